//! Case folding that is identical in the importer, the Worker and the client.

/// Converts each character to lower case independently, so that a prefix folds in the same way as
/// within the whole string. A final sigma therefore becomes a normal sigma, as in Unicode case
/// folding.
pub fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|letter| if letter == 'ς' { 'σ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn prefix_folds_like_the_whole_string() {
        let text = "ΟΔΥΣΣΕΥΣ Straße İstanbul ÀÉ";
        for (end, _) in text.char_indices() {
            assert!(fold(text).starts_with(&fold(text.get(..end).unwrap())), "{end}");
        }
        assert_eq!(fold("ΟΔΟΣ οδος"), "οδοσ οδοσ");
        assert_eq!(fold("ÀÉ Straße"), "àé straße");
    }
}
