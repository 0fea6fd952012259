//! `catalog check --former`: finds well-known platforms with fewer actions than in an older
//! catalog. Otherwise, a moved or shortened document would go unnoticed among thousands.

use std::collections::BTreeMap;

use super::check::ConnectorEntry;
use super::providers::Providers;
use super::report::format_count;

/// The platforms of `providers.toml` that lost actions, each with an error message.
pub fn faults(
    former: &[ConnectorEntry],
    current: &[ConnectorEntry],
    providers: &Providers,
) -> Vec<(String, String)> {
    let count = |entry: &ConnectorEntry| (entry.connector.platform.clone(), entry.connector.tools);
    let current = current.iter().map(count).collect();
    lost(former.iter().map(count).filter(|(name, _)| providers.0.contains_key(name)), &current)
}

fn lost(
    former: impl Iterator<Item = (String, u32)>,
    current: &BTreeMap<String, u32>,
) -> Vec<(String, String)> {
    let lost = former.filter_map(|(platform, before)| {
        let now = current.get(&platform).copied().unwrap_or_default();
        (now < before).then(|| {
            let actions = format_count(now as usize, "action");
            let fault = format!("{platform}: {actions}, instead of {before}");
            (platform, fault)
        })
    });
    lost.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_with_fewer_actions_is_a_fault() {
        let counts = |counts: &[(&str, u32)]| {
            counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect::<Vec<_>>()
        };
        let former = counts(&[("same", 2), ("more", 2), ("fewer", 2), ("none", 1), ("absent", 3)]);
        let current = counts(&[("same", 2), ("more", 3), ("fewer", 1), ("none", 0), ("new", 1)]);
        let faults: Vec<String> = lost(former.into_iter(), &current.into_iter().collect())
            .into_iter()
            .map(|(_, fault)| fault)
            .collect();
        assert_eq!(
            faults,
            [
                "fewer: 1 action, instead of 2",
                "none: 0 actions, instead of 1",
                "absent: 0 actions, instead of 3"
            ]
        );
    }
}
