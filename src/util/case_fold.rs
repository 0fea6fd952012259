//! Case folding, the same in the importer, the Worker and the client.

/// Lower-cases letter by letter, so that a prefix folds the same way alone as within the whole string. A final sigma
/// therefore becomes a normal sigma, as in Unicode's case folding.
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
    fn prefix_folds_like_the_whole() {
        let text = "ΟΔΥΣΣΕΥΣ Straße İstanbul ÀÉ";
        for (end, _) in text.char_indices() {
            assert!(fold(text).starts_with(&fold(text.get(..end).unwrap())), "{end}");
        }
        assert_eq!(fold("ΟΔΟΣ οδος"), "οδοσ οδοσ");
        assert_eq!(fold("ÀÉ Straße"), "àé straße");
    }
}
