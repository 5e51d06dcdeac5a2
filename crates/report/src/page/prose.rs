//! Texts of organisers in Markdown.

use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::escaped;

/// A text in Markdown as HTML. Markup in it is text, pictures are their descriptions, and links lead to `http`, `https` and
/// `mailto` addresses or to pages of the same site; search engines do not follow them. Headings begin at this level. The keyboard
/// scrolls tables and code that are wider than the page.
pub fn prose(markdown: &str, top: usize) -> String {
    let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    // Whether each open link is one of those that stay links.
    let mut links = Vec::new();
    let events = parser.filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Link { dest_url, .. }) => {
            links.push(is_link(&dest_url));
            let start = format!("<a href=\"{}\" rel=\"nofollow noopener\">", escaped(&dest_url));
            is_link(&dest_url).then(|| Event::InlineHtml(start.into()))
        }
        Event::End(TagEnd::Link) => {
            links.pop().filter(|is_link| *is_link).map(|_| Event::InlineHtml(CowStr::Borrowed("</a>")))
        }
        Event::Start(Tag::Heading { level, classes: _, attrs: _, id: _ }) => {
            Some(Event::Html(format!("<h{}>", below(level, top)).into()))
        }
        Event::End(TagEnd::Heading(level)) => {
            Some(Event::Html(format!("</h{}>\n", below(level, top)).into()))
        }
        Event::Start(Tag::CodeBlock(_)) => Some(Event::Html("<pre tabindex=\"0\"><code>".into())),
        Event::End(TagEnd::CodeBlock) => Some(Event::Html("</code></pre>\n".into())),
        // Alignments would be attributes `style`, which the policy of pages forbids.
        Event::Start(Tag::Table(columns)) => {
            Some(Event::Start(Tag::Table(vec![Alignment::None; columns.len()])))
        }
        other => Some(other),
    });
    let scroll = "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">";
    let events = events.flat_map(|event| match event {
        Event::Start(Tag::Table(_)) => [Some(Event::Html(scroll.into())), Some(event)],
        Event::End(TagEnd::Table) => [Some(event), Some(Event::Html("</div>\n".into()))],
        other => [Some(other), None],
    });
    let events = events.flatten();
    let mut text = String::new();
    html::push_html(&mut text, events);
    text
}

/// The first heading of a text in Markdown, without it the rest.
pub fn split_title(markdown: &str) -> (Option<&str>, &str) {
    let text = markdown.trim_start_matches('\u{feff}').trim_start();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    match first.strip_prefix("# ").map(|title| title.trim().trim_end_matches('#').trim_end()) {
        Some(title) if !title.is_empty() => (Some(title), rest),
        _ => (None, text),
    }
}

fn is_link(address: &str) -> bool {
    let has_scheme = ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    has_scheme || !address.contains(':') && !address.starts_with("//") && !address.contains('\\')
}

/// The level of a heading on a page. The first level of a text is its title, which is not part of it.
fn below(level: HeadingLevel, top: usize) -> usize {
    (top + (level as usize).saturating_sub(2)).min(6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_markdown_is_text() {
        let shown = prose("<script>alert(1)</script>\n\na <b onclick=x>b</b> ![pic](http://x/y.png)", 2);
        assert!(!shown.contains("<script") && !shown.contains("<b ") && !shown.contains("<img"), "{shown}");
        assert!(shown.contains("&lt;script&gt;") && shown.contains("pic"), "{shown}");
    }

    #[test]
    fn links_lead_only_to_sites_and_mail() {
        let rel = "rel=\"nofollow noopener\"";
        for address in
            ["https://a.example/?a=1&b=2", "mailto:jury@a.example", "rules", "#top", "HTTP://a.example"]
        {
            let shown = prose(&format!("[text]({address})"), 2);
            assert!(
                shown.contains("<a href=") && shown.contains(rel) && shown.contains(">text</a>"),
                "{shown}"
            );
        }
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:x",
            "data:text/html,x",
            "//evil.example",
            "\\\\evil.example",
            "&#106;avascript:x",
        ] {
            let shown = prose(&format!("[text]({address})"), 2);
            assert!(!shown.contains("<a ") && shown.contains("text"), "{shown}");
        }
    }

    #[test]
    fn tables_and_code_are_reached_by_keyboard_without_style() {
        let shown = prose("| a | b |\n|:--|--:|\n| 1 | 2 |\n\n```sh\nls\n```\n", 2);
        assert!(
            shown.starts_with("<div class=\"scroll\" tabindex=\"0\"") && shown.contains("</table>\n</div>"),
            "{shown}"
        );
        assert!(shown.contains("<pre tabindex=\"0\"><code>ls\n</code></pre>"), "{shown}");
        assert!(!shown.contains("style="), "{shown}");
    }

    #[test]
    fn headings_begin_at_their_level() {
        assert_eq!(prose("# a\n## b\n### c", 3), "<h3>a</h3>\n<h3>b</h3>\n<h4>c</h4>\n");
        assert_eq!(split_title("# The finals\n\ntext"), (Some("The finals"), "\ntext"));
        assert_eq!(split_title("text\n# b"), (None, "text\n# b"));
    }
}
