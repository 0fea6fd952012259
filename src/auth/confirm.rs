//! Decides which calls of an agent need the user's approval.

use super::limits::Access;
use crate::terms::named;

named! {
    /// Which calls need the user's approval.
    Confirm:
    /// All calls except `GET`, `HEAD` and GraphQL queries.
    Write = "write",
    /// `DELETE`, and other writing methods if the action's key or title contains a word for
    /// deleting, ending, removing or paying: see [`is_destructive`].
    Destructive = "destructive",
}

impl Confirm {
    /// The stricter of two settings.
    pub fn stricter(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        if one == Some(Self::Write) { one } else { other.or(one) }
    }

    /// Whether a call of the action with this method, key and title needs approval.
    pub fn needs_approval(self, method: &str, key: &str, title: &str) -> bool {
        if Access::Read.allows(method, Some(key)) {
            return false;
        }
        self == Self::Write || method == "DELETE" || is_destructive(key) || is_destructive(title)
    }
}

/// A word that contains one of these is destructive: some keys join their words, as in
/// `batchdelete`.
const DESTRUCTIVE_PARTS: [&str; 2] = ["delete", "remove"];
/// A word that begins with one of these is destructive, in all its forms: `cancels`, `cancelling`,
/// `cancellation`.
const DESTRUCTIVE_STEMS: [&str; 60] = [
    "abort",
    "anonymis",
    "anonymiz",
    "archiv",
    "blacklist",
    "blocklist",
    "cancel",
    "deactivat",
    "dealloc",
    "decommission",
    "deletion",
    "delist",
    "demot",
    "deprecat",
    "deprovision",
    "deregist",
    "destroy",
    "destruct",
    "detach",
    "disabl",
    "disassociat",
    "discard",
    "disconnect",
    "dissociat",
    "dissolv",
    "erase",
    "erasing",
    "evict",
    "expung",
    "forget",
    "invalidat",
    "liquidat",
    "obliterat",
    "overwrit",
    "payout",
    "purg",
    "reclaim",
    "refund",
    "regenerat",
    "reimag",
    "removal",
    "removing",
    "retir",
    "revoc",
    "revok",
    "rollback",
    "shutdown",
    "suspend",
    "terminat",
    "transfer",
    "trash",
    "truncat",
    "unassign",
    "undeploy",
    "unenrol",
    "uninstall",
    "unpublish",
    "unregist",
    "unsubscrib",
    "withdraw",
];
/// These words are destructive, but not as prefixes: `bank` begins with `ban`.
const DESTRUCTIVE_WORDS: [&str; 61] = [
    "abandon", "ban", "bans", "block", "charge", "charges", "clear", "clears", "close", "closes",
    "closing", "decline", "declines", "del", "deny", "drop", "drops", "eject", "empty", "exclude",
    "expel", "expire", "expires", "flush", "freeze", "halt", "kick", "kill", "kills", "merge",
    "nuke", "pay", "payment", "payments", "prune", "rebuild", "recreate", "reject", "rejects",
    "reset", "resets", "revert", "reverts", "rm", "rotate", "stop", "stops", "strip", "swap",
    "unban", "unbind", "undo", "unfollow", "unlink", "unset", "unshare", "untag", "void", "voids",
    "wipe", "wipes",
];
/// These words are destructive only as the first word, where they are verbs. Elsewhere they are
/// nouns, as in `create a release`.
const DESTRUCTIVE_FIRST_WORDS: [&str; 8] =
    ["buy", "end", "leave", "purchase", "release", "return", "reverse", "roll"];

/// Whether a key or title describes an action that can't be undone or takes something away. The
/// method is not sufficient, because many platforms delete with `POST`. Participles, as in `restore
/// a deleted item`, and negations, as in `undelete`, do not count. Sending and publishing are not
/// destructive.
fn is_destructive(text: &str) -> bool {
    let words = words(text);
    // Some keys begin with the HTTP method.
    let methods = ["post", "put", "patch"];
    let first = words.iter().find(|word| !methods.contains(&word.as_str()));
    first.is_some_and(|word| DESTRUCTIVE_FIRST_WORDS.contains(&word.as_str()))
        || words.iter().any(|word| is_destructive_word(word))
}

fn is_destructive_word(word: &str) -> bool {
    if word.ends_with("ed")
        || DESTRUCTIVE_PARTS.iter().any(|part| word.starts_with(&format!("un{part}")))
    {
        return false;
    }
    DESTRUCTIVE_WORDS.contains(&word)
        || DESTRUCTIVE_STEMS.iter().any(|stem| word.starts_with(stem))
        || DESTRUCTIVE_PARTS.iter().any(|part| word.contains(part))
}

/// Splits a title or a camel-case name into lower-case words.
fn words(text: &str) -> Vec<String> {
    let mut separated = String::new();
    let mut was_lower = false;
    for letter in text.chars() {
        if was_lower && letter.is_uppercase() {
            separated.push(' ');
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
        separated.push(if letter.is_alphanumeric() { letter } else { ' ' });
    }
    separated.split_whitespace().map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::Confirm;

    #[test]
    fn writes_and_destructive_actions_need_approval() {
        for (method, key, title, write, destructive) in [
            ("GET", "deleteThing", "Delete a thing", false, false),
            ("HEAD", "x", "X", false, false),
            ("POST", "issuesCreate", "Create an issue", true, false),
            ("PUT", "thingsReplace", "Replace a thing", true, false),
            ("DELETE", "things", "Things", true, true),
            ("POST", "chatDelete", "Delete a message", true, true),
            ("POST", "chat.delete", "Chat", true, true),
            ("POST", "bulk_remove_members", "Members", true, true),
            ("POST", "x", "Remove members", true, true),
            ("POST", "issuesUndelete", "Restore an issue", true, false),
            ("PATCH", "OAuthTokensREVOKE", "Tokens", true, true),
            ("PATCH", "oauthTokensRevoke", "Tokens", true, true),
        ] {
            let requested = [Confirm::Write, Confirm::Destructive]
                .map(|confirm| confirm.needs_approval(method, key, title));
            assert_eq!(requested, [write, destructive], "{method} {key}");
        }
    }

    /// Real keys and titles from the public directory of `OpenAPI` documents.
    #[test]
    fn destructive_actions_are_recognized_by_their_words() {
        let is_destructive =
            |key: &str, title: &str| Confirm::Destructive.needs_approval("POST", key, title);
        for (key, title) in [
            ("adminConversationsArchive", "Archive a channel"),
            ("batchdelete", "Batch"),
            ("EnterpriseTeamBulkdelete", "Members"),
            ("cancelreservation", "Reservation"),
            ("startPaymentInitiationCancellationAuthorisation", "Start the authorisation"),
            ("DeregisterScalableTarget", "Scalable target"),
            ("DisassociateVehicleFleet", "Vehicle fleet"),
            ("DisableUser", "User"),
            ("sites.contentTypes.unpublish", "Invoke action unpublish"),
            ("Unsubscribe", "Unsubscribe"),
            ("post-payments-paymentPspReference-refunds", "Refund a captured payment"),
            ("post-balanceTransfer", "Start a balance transfer"),
            ("PostPayouts", "Create a payout"),
            ("PostChargesChargeRefund", "Refund a charge"),
            ("postCampaignsIdActionsCancelSend", "Cancel campaign"),
            ("VirtualMachineScaleSets_Deallocate", "Deallocate"),
            ("ContainerKill", "Kill a container"),
            ("teamsStop", "Stop a task"),
            ("POST_ReleaseAddress", "Address"),
            ("LeaveOrganization", "Organization"),
            ("voidInvoice", "Void an invoice"),
            ("closeAccount", "Close an account"),
            ("users.user.invalidateAllRefreshTokens", "Invoke action invalidateAllRefreshTokens"),
            ("userDeletionRequest.upsert", "Request a deletion"),
            ("WipeDevice", "Wipe a device"),
            ("purgeCache", "Purge the cache"),
            ("dismantle", "Terminate a session"),
        ] {
            assert!(is_destructive(key, title), "{key}: {title}");
        }
        for (key, title) in [
            ("chatPostMessage", "Send a message"),
            ("PublishMessage", "Publish a message"),
            ("untrashThread", "Untrash a thread"),
            ("unarchiveChannel", "Unarchive a channel"),
            ("restoreDeleted", "Restore a deleted item"),
            ("listRemovedItems", "List removed items"),
            ("reposCreateRelease", "Create a release"),
            ("createBank", "Create a bank account"),
            ("enableUser", "Enable a user"),
            ("subscribe", "Subscribe"),
            ("createWeekend", "Create a weekend"),
            ("createDropbox", "Connect Dropbox"),
        ] {
            assert!(!is_destructive(key, title), "{key}: {title}");
        }
    }
}
