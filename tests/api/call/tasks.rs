//! Tool descriptions identify the right tool: matches 60 fixed tasks to tools, using only the words
//! of `tools/list`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::mcp::{api, list_tools};

/// Lines with the expected tool, a tab, and the task in words.
const TASKS: &str = include_str!("../../fixtures/agent-tasks.tsv");
/// The number of tasks for which the current names and descriptions lead to the right tool. It must
/// not fall.
const MIN_SOLVED: usize = 49;
/// The weights of a tool's name, its title, its description, and each of its arguments.
const WEIGHTS: [f64; 4] = [6.0, 3.0, 2.0, 0.7];
const STOP_WORDS: &str = "a an and any are as at be by can does do for from has have how i if in into is it its must need needs now of on or s so that the them their there these they this to user users was what when which who whose with without you your before again until than then not no";

/// Splits a text into words without endings.
fn words(text: &str) -> BTreeSet<String> {
    let stop: BTreeSet<&str> = STOP_WORDS.split(' ').collect();
    let mut separated = String::new();
    let mut was_lower = false;
    for letter in text.chars() {
        if was_lower && letter.is_uppercase() {
            separated.push(' ');
        }
        was_lower = letter.is_lowercase();
        separated.push(if letter.is_ascii_alphabetic() { letter } else { ' ' });
    }
    let lower = separated.to_lowercase();
    let known = lower.split_whitespace().filter(|word| !stop.contains(word));
    known
        .map(|word| {
            let ending = ["ing", "ed", "es", "s", "e"]
                .into_iter()
                .find(|ending| word.ends_with(ending) && word.len() >= ending.len() + 3);
            word.strip_suffix(ending.unwrap_or_default()).unwrap_or(word).to_owned()
        })
        .collect()
}

/// The words of a tool, with their weights.
fn document(tool: &Value) -> BTreeMap<String, f64> {
    let mut texts: Vec<(&str, f64)> = Vec::new();
    let parts = ["name", "title", "description"];
    texts.extend(
        parts.iter().zip(WEIGHTS).map(|(part, weight)| (tool[*part].as_str().unwrap(), weight)),
    );
    for (name, argument) in tool["inputSchema"]["properties"].as_object().unwrap() {
        texts.push((name, WEIGHTS[3]));
        texts.push((argument["description"].as_str().unwrap(), WEIGHTS[3]));
    }
    let mut document = BTreeMap::new();
    for (text, weight) in texts {
        for word in words(text) {
            let known: &mut f64 = document.entry(word).or_default();
            *known = known.max(weight);
        }
    }
    document
}

#[test]
fn most_tasks_match_the_right_tool_best() {
    let list = list_tools(&api());
    let tools: Vec<(&str, BTreeMap<String, f64>)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap(), document(tool)))
        .collect();
    let rarity = |word: &str| {
        let all = tools.iter().map(|_| 1.0).sum::<f64>();
        let having = tools.iter().filter(|(_, document)| document.contains_key(word)).map(|_| 1.0);
        (1.0 + all / having.sum::<f64>().max(1.0)).ln()
    };
    let score = |document: &BTreeMap<String, f64>, task: &BTreeSet<String>| {
        let all: f64 = document.iter().map(|(word, weight)| (weight * rarity(word)).powi(2)).sum();
        let found = task.iter().filter_map(|word| Some(document.get(word)? * rarity(word).powi(2)));
        found.sum::<f64>() / all.sqrt().sqrt()
    };
    let (mut of_tools, mut wrong) = (BTreeMap::new(), Vec::new());
    for line in TASKS.lines() {
        let (expected, task) = line.split_once('\t').unwrap();
        *of_tools.entry(expected).or_insert(0) += 1;
        let requests = words(task);
        let best = tools
            .iter()
            .max_by(|one, other| score(&one.1, &requests).total_cmp(&score(&other.1, &requests)))
            .unwrap();
        if best.0 != expected {
            wrong.push(format!("{task}: {} instead of {expected}", best.0));
        }
    }
    assert!(of_tools.len() == tools.len() && of_tools.values().all(|count| *count == 10));
    assert!(60 - wrong.len() >= MIN_SOLVED, "{wrong:#?}");
}

#[test]
fn the_list_of_tools_has_at_most_1800_tokens() {
    // A token of `o200k_base` has 4.3 bytes of this list on average (measured).
    let list = list_tools(&api()).to_string();
    assert!(list.len() / 4 <= 1_800, "{} bytes", list.len());
}
