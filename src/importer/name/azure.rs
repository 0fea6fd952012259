//! The display names of Azure's services. Most documents describe a part of a service. They have
//! the title of the service's client, such as `SqlManagementClient`, but different values of
//! `x-serviceName`, such as `sql-elasticPools`.

use super::{NameSources, brand, singular, title, words_missing_from};
use crate::importer::text;

/// Words at the end of titles of clients and specifications.
#[rustfmt::skip]
const TITLE_SUFFIXES: &[&str] = &["Client", "Management", "Mgmt", "Admin", "Provider", "Resource", "RP", "API", "APIs", "REST", "spec"];
/// Words in service names that do not identify a part.
#[rustfmt::skip]
const NOISE_WORDS: &[&str] = &[
    "api", "swagger", "azure", "dtl", "not", "implemented", "preview", "core", "bms", "management", "client", "get",
    "calls",
];

/// The possible names of a service of the brand `Azure` or `Microsoft`, shortest first.
pub fn names(sources: NameSources<'_>, brand: &str) -> Vec<String> {
    if let Some((_, name)) = TITLES.iter().find(|(service, _)| *service == sources.service) {
        return vec![format!("{brand} {name}")];
    }
    let (area, part) = sources.service.split_once('-').unwrap_or((sources.service, ""));
    let (area, part) = if area == "azure" { (part, "") } else { (area, part) };
    let part = part_words(area, part);
    let mut about = title_words(sources.title);
    if about.is_empty() {
        about.clone_from(&part);
    }
    let singulars = |words: &[String]| words.iter().map(|word| singular(word)).collect::<Vec<_>>();
    let has_all = singulars(&about).iter().all(|word| singulars(&part).contains(word));
    // Omit the area if the part contains it, as in area `Network` and part `Virtual Network
    // Gateway`.
    let words = if has_all {
        part.clone()
    } else {
        [about.clone(), words_missing_from(&part, &about.join(" "))].concat()
    };
    let words = words.join(" ");
    let place = UNMENTIONED_AREAS.iter().find(|(name, _)| *name == area).map(|(_, place)| *place);
    let place = place.filter(|place| {
        !title::letters_and_digits(&words).contains(&title::letters_and_digits(place))
    });
    let name = |rest: &str| {
        [Some(brand), place, Some(rest)].into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let short = name(&words);
    let mut names = vec![short.clone()];
    if !singulars(&about).concat().ends_with(&singulars(&part).concat()) {
        names.push(name(&[about, part].concat().join(" ")));
    }
    if place.is_none() {
        let words_missing_from = words_missing_from(&part_words("", area), &short);
        names.push([vec![short], words_missing_from].concat().join(" "));
    }
    names
}

/// The words of a title, without the brand and the words in [`TITLE_SUFFIXES`].
fn title_words(title: &str) -> Vec<String> {
    let title = title::parts(title, &[]).join(" ").replace('.', " ");
    let mut words: Vec<String> = title.split_whitespace().flat_map(client_words).collect();
    while words.first().is_some_and(|word| matches!(word.as_str(), "Azure" | "Microsoft" | "ACE")) {
        words.remove(0);
    }
    let is_end = |word: &String| TITLE_SUFFIXES.iter().any(|end| word.eq_ignore_ascii_case(end));
    while words.len() > 1 && words.last().is_some_and(is_end) {
        let last = words.pop();
        // Also remove "Service", as in `Alerts Management Service Resource Provider`.
        if last.as_deref() == Some("Resource")
            && words.len() > 2
            && words.last().is_some_and(|word| word == "Service")
        {
            words.pop();
        }
    }
    words.iter().flat_map(|word| word.split(' ')).map(str::to_owned).collect()
}

/// Splits `SqlManagementClient` into `SQL`, `Management` and `Client`. A compound name, such as
/// `API Management`, is a single item.
fn client_words(word: &str) -> Vec<String> {
    let mut rest = word;
    let mut ends = Vec::new();
    loop {
        if let Some(name) = compound(rest) {
            ends.insert(0, name.to_owned());
            return ends;
        }
        let mut all = TITLE_SUFFIXES.iter();
        let Some(end) = all.find(|end| rest.len() > end.len() && rest.ends_with(**end)) else {
            break;
        };
        rest = rest.strip_suffix(end).unwrap_or(rest);
        ends.insert(0, (*end).to_owned());
    }
    [split(rest), ends].concat()
}

/// The words of a part of a service: `apimidentityprovider` of `apimanagement` → `Identity
/// Provider`.
fn part_words(area: &str, part: &str) -> Vec<String> {
    let part =
        if area == "apimanagement" { part.strip_prefix("apim").unwrap_or(part) } else { part };
    let words = part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.flat_map(split).collect();
    if words.first().is_some_and(|word| word == "Azure") {
        words.remove(0);
    }
    while words.last().is_some_and(|word| NOISE_WORDS.contains(&word.to_lowercase().as_str())) {
        words.pop();
    }
    if let [word] = words.as_slice()
        && word == "Service"
    {
        words.clear();
    }
    words
}

fn compound(word: &str) -> Option<&'static str> {
    let row = COMPOUND_WORDS.iter().find(|(compound, _)| compound.eq_ignore_ascii_case(word));
    row.map(|(_, written)| *written)
}

fn split(word: &str) -> Vec<String> {
    match compound(word) {
        Some(written) => written.split(' ').map(str::to_owned).collect(),
        None => text::words(word).iter().map(|word| brand::word(word)).collect(),
    }
}

/// Areas that the names of their parts don't contain, so that names must mention the area.
const UNMENTIONED_AREAS: &[(&str, &str)] = &[
    ("azsadmin", "Stack"),
    ("azurestack", "Stack"),
    ("machinelearningservices", "Machine Learning"),
    ("web", "App Service"),
];

/// Services whose titles are too long or too vague.
const TITLES: &[(&str, &str)] = &[
    ("alertsmanagement-AlertsManagement", "Alerts Management"),
    ("apimanagement-apimapis", "API Management APIs"),
    ("apimanagement-apimapisByTags", "API Management APIs by Tags"),
    ("apimanagement-apimapiversionsets", "API Management API Version Sets"),
    ("applicationinsights-QueryPackQueries_API", "Log Analytics Query Pack Queries"),
    ("azsadmin-Backups", "Stack Backups"),
    ("cognitiveservices-LUIS-Runtime", "LUIS Runtime"),
    ("compute-swagger", "Compute Convenience"),
    ("containerservices-containerService", "Container Services"),
    ("cost-management-costmanagement", "Cost Management"),
    ("deviceprovisioningservices-iotdps", "IoT Device Provisioning"),
    ("eventhub-EventHub-preview", "Event Hubs Preview"),
    ("graph-beta", "Graph Beta"),
    ("labservices-ML", "Lab Services"),
    ("machinelearningservices-machineLearningServices", "Machine Learning Services"),
    ("managementpartner-ManagementPartner", "Management Partner"),
    ("marketplace-Marketplace", "Marketplace"),
    ("operationsmanagement-OperationsManagement", "Operations Management"),
    ("provisioningservices-iotdps", "IoT Device Provisioning"),
    ("recoveryservicesbackup-backupManagement", "Recovery Services Backup Management"),
    ("resources-managedapplications", "Managed Applications"),
    ("service-map-arm-service-map", "Service Map"),
    ("sqlvirtualmachine-sqlvm", "SQL Virtual Machine"),
    ("storage-managementpolicy", "Storage Management Policy"),
    ("windowsiot-WindowsIotServices", "Windows IoT Services"),
    ("workloadmonitor-Microsoft.WorkloadMonitor", "Workload Monitor"),
];

/// The words of names that have neither spaces nor camel case.
const COMPOUND_WORDS: &[(&str, &str)] = &[
    ("adhybridhealthservice", "AD Hybrid Health Service"),
    ("apimanagement", "API Management"),
    ("apisByTags", "APIs by Tags"),
    ("apiversionsets", "API Version Sets"),
    ("authorizationservers", "Authorization Servers"),
    ("azureactivedirectory", "Active Directory"),
    ("containerregistry", "Container Registry"),
    ("customproviders", "Custom Providers"),
    ("databox", "Data Box"),
    ("databoxedge", "Data Box Edge"),
    ("devops", "DevOps"),
    ("devtestlabs", "DevTest Labs"),
    ("edgegateway", "Edge Gateway"),
    ("emailtemplate", "Email Template"),
    ("emailtemplates", "Email Templates"),
    ("eventgrid", "Event Grid"),
    ("eventhub", "Event Hubs"),
    ("expressroutecrossconnection", "ExpressRoute Cross Connection"),
    ("filesystem", "File System"),
    ("graphquery", "Graph Query"),
    ("graphrbac", "Graph RBAC"),
    ("guestconfiguration", "Guest Configuration"),
    ("hana", "HANA"),
    ("hdinsight", "HDInsight"),
    ("hdinsightjob", "HDInsight Job"),
    ("hyperdrive", "HyperDrive"),
    ("identityprovider", "Identity Provider"),
    ("iotspaces", "IoT Spaces"),
    ("logic", "Logic Apps"),
    ("mariadb", "MariaDB"),
    ("modelmanagement", "Model Management"),
    ("mysql", "MySQL"),
    ("namedvalues", "Named Values"),
    ("netapp", "NetApp"),
    ("networkexperiment", "Network Experiment"),
    ("networkstatus", "Network Status"),
    ("openidconnectproviders", "OpenID Connect Providers"),
    ("openshiftmanagedclusters", "OpenShift Managed Clusters"),
    ("policydescriptions", "Policy Descriptions"),
    ("policysnippets", "Policy Snippets"),
    ("postgresql", "PostgreSQL"),
    ("productsByTags", "Products by Tags"),
    ("qnamaker", "QnA Maker"),
    ("registeredidentities", "Registered Identities"),
    ("replicationusages", "Replication Usages"),
    ("resourcemanagement", "Resource Manager"),
    ("scopemap", "Scope Map"),
    ("searchindex", "Search Index"),
    ("searchservice", "Search Service"),
    ("servermanagement", "Server Management"),
    ("signalr", "SignalR"),
    ("sqlvm", "SQL VM"),
    ("storageaccounts", "Storage Accounts"),
    ("storsimple", "StorSimple"),
    ("storsimple1200series", "StorSimple 1200 Series"),
    ("storsimple8000series", "StorSimple 8000 Series"),
    ("streamingjobs", "Streaming Jobs"),
    ("streamingservice", "Streaming Service"),
    ("tagresources", "Tag Resources"),
    ("trafficmanageranalytics", "Analytics"),
    ("vaultusages", "Vault Usages"),
    ("versionsets", "Version Sets"),
    ("virtualclusters", "Virtual Clusters"),
    ("virtualwanasaservice", "Virtual WAN"),
    ("vmwarecloudsimple", "VMware CloudSimple"),
    ("webapplicationfirewall", "Web Application Firewall"),
    ("webservices", "Web Services"),
    ("windowsesu", "Windows ESU"),
    ("windowsiot", "Windows IoT"),
];
