//! The pages of the specification, Markdown.

/// A page of the specification.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The file in `spec/` without its extension, such as `clocks`.
    pub name: &'static str,
    /// The page in Markdown.
    pub text: &'static str,
}

/// Defines the list of pages from the names of their files.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        /// Every page, the overview first.
        pub const PAGES: &[Page] =
            &[$(Page { name: $name, text: include_str!(concat!("../spec/", $name, ".md")) }),*];
    };
}

pages! {
    "README", "connections", "match", "messages", "clocks", "faults", "results", "chance", "records", "imagine", "games", "watch", "league", "workers", "security", "versioning",
}

impl Page {
    /// The heading of the page.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }

    /// Returns a section with its subsections, by the anchor of its heading: `limits` for `## Limits`.
    pub fn section(&self, anchor: &str) -> Option<&'static str> {
        let headings = || headings(self.text);
        let (_, depth, start) = headings().find(|(heading, ..)| self::anchor(heading) == anchor)?;
        let end = headings().find(|&(_, other, at)| at > start && other <= depth);
        Some(&self.text[start..end.map_or(self.text.len(), |(.., at)| at)])
    }
}

/// The headings of a page: text, depth and byte offset of the line. Skips code blocks.
fn headings(text: &'static str) -> impl Iterator<Item = (&'static str, usize, usize)> {
    let mut at = 0;
    let mut is_code = false;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        is_code ^= line.starts_with("```");
        let depth = line.bytes().take_while(|&byte| byte == b'#').count();
        (!is_code && depth > 0).then(|| (line[depth..].trim(), depth, start))
    })
}

/// The anchor that Markdown renderers generate for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
    kept.map(|char| if char == ' ' { '-' } else { char.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_specification_is_a_page() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spec");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
        let mut files: Vec<String> = files.filter_map(|name| name.into_string().ok()).collect();
        files.sort();
        let mut names: Vec<String> = PAGES.iter().map(|page| format!("{}.md", page.name)).collect();
        names.sort();
        assert_eq!(names, files);
    }

    #[test]
    fn every_link_to_a_section_resolves() {
        for page in PAGES {
            for link in page.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let Some((file, anchor)) = link.split_once('#').filter(|(file, _)| !file.contains('/'))
                else {
                    continue;
                };
                let name = if file.is_empty() { page.name } else { file.trim_end_matches(".md") };
                let target = PAGES.iter().find(|page| page.name == name);
                let target = target.unwrap_or_else(|| panic!("{}: no page {link}", page.name));
                assert!(target.section(anchor).is_some(), "{}: no section {link}", page.name);
            }
        }
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_depth() {
        let page =
            Page { name: "a", text: "# A\n\n## B c\ntext\n```\n## no heading\n```\n### D\n\n## E\nend\n" };
        assert_eq!(page.title(), "A");
        assert_eq!(page.section("b-c"), Some("## B c\ntext\n```\n## no heading\n```\n### D\n\n"));
        assert_eq!(page.section("e"), Some("## E\nend\n"));
        assert_eq!(page.section("no-heading"), None);
    }
}
