//! How a position looks.

use crate::position::{Point, Position, column_and_row, letter, points, push_vertex};
use crate::push_view;

/// Units between two lines, and from the edge to the first one.
const STEP: usize = 20;
const EDGE: usize = 30;

/// The answer to `show`.
pub(crate) fn shown(position: &Position) -> String {
    let mut text = String::with_capacity(1 << 16);
    text.push_str("{\"view\":");
    push_view(&mut text, position);
    push_board(&mut text, position);
    push_scene(&mut text, position);
    text.push('}');
    text
}

fn push_board(text: &mut String, position: &Position) {
    text.push_str(",\"text\":\"  ");
    for column in 0..position.size {
        text.push(' ');
        text.push_str(letter(column));
    }
    for row in (0..position.size).rev() {
        *text += &format!("\\n{:2}", row + 1);
        let mut symbols = String::new();
        position.push_row(&mut symbols, row);
        text.extend(symbols.chars().flat_map(|symbol| [' ', symbol]));
    }
    text.push_str("\\n\"");
}

fn push_scene(text: &mut String, position: &Position) {
    let size = position.size;
    let length = STEP * (size - 1);
    let width = 2 * EDGE + length;
    let place = |at: usize| {
        let (column, row) = column_and_row(at);
        (EDGE + STEP * column, EDGE + length - STEP * row)
    };
    let name = |at: usize| {
        let mut name = String::new();
        push_vertex(&mut name, Some(at));
        name
    };
    *text += &format!(
        r#","scene":{{"width":{width},"height":{width},"seats":["black","white"],"shapes":[{{"id":"board","layer":"board","at":[0,0],"parts":[{{"form":"rect","at":[0,0],"width":{width},"height":{width},"fill":"special"}}"#
    );
    let line = |x, y, width, height| {
        format!(r#",{{"form":"rect","at":[{x},{y}],"width":{width},"height":{height},"fill":"black"}}"#)
    };
    for index in 0..size {
        *text += &line(EDGE, EDGE + length - STEP * index, length + 1, 1);
        *text += &line(EDGE + STEP * index, EDGE, 1, length + 1);
    }
    if size % 2 == 1 && size > 7 {
        let edge = if size < 13 { 2 } else { 3 };
        let marked = || (edge..size - 1).step_by((size - 1) / 2 - edge);
        for (column, row) in marked().flat_map(|column| marked().map(move |row| (column, row))) {
            let (x, y) = (EDGE + STEP * column, EDGE + length - STEP * row);
            *text += &format!(r#",{{"form":"circle","at":[{x},{y}],"radius":3,"fill":"black"}}"#);
        }
    }
    text.push_str("]}");
    // What a person clicks to put a stone.
    for (at, _) in position.points() {
        let (name, (x, y)) = (name(at), place(at));
        *text += &format!(
            r#",{{"id":"point {name}","layer":"board","at":[{x},{y}],"parts":[{{"form":"circle","at":[0,0],"radius":9}}]}}"#
        );
    }
    let label = |id: &str, name: &str, x, y| {
        format!(
            r#",{{"id":"{id}","layer":"label","at":[{x},{y}],"parts":[{{"form":"text","at":[0,0],"size":10,"text":"{name}","fill":"black"}}]}}"#
        )
    };
    for column in 0..size {
        *text += &label(letter(column), letter(column), EDGE + STEP * column, width - 10);
    }
    for row in 0..size {
        *text += &label(&format!("{:02}", row + 1), &(row + 1).to_string(), 10, EDGE + length - STEP * row);
    }
    for (at, colour) in position.points().filter(|(_, on)| *on != Point::Empty) {
        let (name, colour, (x, y)) = (name(at), colour.name(), place(at));
        *text += &format!(
            r#",{{"id":"{name}","kind":"{colour}","at":[{x},{y}],"parts":[{{"form":"circle","at":[0,0],"radius":9,"fill":"{colour}","outline":{{"colour":"black","width":1}}}}]}}"#
        );
    }
    text.push_str("],\"words\":[");
    push_words(text, position);
    text.push_str("],\"places\":{");
    if position.reason().is_none() {
        let places: Vec<String> =
            position.legal().map(name).map(|name| format!(r#""{name}":["point {name}"]"#)).collect();
        text.push_str(&places.join(","));
    }
    text.push_str("}}");
}

fn push_words(text: &mut String, position: &Position) {
    let to_move = position.to_move();
    if position.reason().is_some() {
        let black = position.margin();
        let who = match black {
            1.. => "black wins",
            0 => "a draw",
            ..0 => "white wins",
        };
        *text += &format!(r#""{who} by {} points""#, points(black.abs()));
    } else {
        *text += &format!(r#""{} to move""#, to_move.name());
    }
    if let Some(vertex) = position.last_vertex() {
        *text += &format!(r#","move {}: {} {vertex}""#, position.count, to_move.other().name());
    }
}
