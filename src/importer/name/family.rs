//! The display names of Amazon's, Google's and Microsoft's services.

use super::{NameSources, azure, title};
use crate::importer::text;

/// The possible names of a service of Amazon, Google or Microsoft. Returns `None` for other
/// providers.
pub fn names(sources: NameSources<'_>) -> Option<Vec<String>> {
    match sources.provider.trim().to_ascii_lowercase().as_str() {
        "amazonaws.com" => Some(vec![amazon(sources)]),
        "googleapis.com" => Some(vec![google(sources)]),
        "azure.com" | "windows.net" => Some(azure::names(sources, "Azure")),
        "microsoft.com" => Some(azure::names(sources, "Microsoft")),
        _ => None,
    }
}

fn find(table: &[(&str, &str)], service: &str) -> Option<String> {
    let row = table.iter().find(|(name, _)| name.eq_ignore_ascii_case(service.trim()));
    row.map(|(_, name)| (*name).to_owned())
}

/// The name of an Amazon service: `Amazon EC2`, `AWS Lambda`. If the title has neither prefix, adds
/// `AWS`.
fn amazon(sources: NameSources<'_>) -> String {
    if let Some(name) = find(AMAZON, sources.service) {
        return name;
    }
    let mut name = title::parts(sources.title, &[]).join(" - ").replace(" - ", " ");
    // Split titles in camel case, such as `AWSBillingConductor`.
    if !name.contains(' ') && (name.starts_with("AWS") || name.starts_with("Amazon")) {
        name = text::words(&name).join(" ");
    }
    let words: Vec<&str> = name.split(' ').collect();
    let owner = words.iter().position(|word| matches!(*word, "AWS" | "Amazon"));
    if owner != Some(0) {
        name = format!("AWS {name}");
    }
    let second =
        sources.service.to_lowercase().ends_with("v2") && !name.to_lowercase().contains("v2");
    if second { format!("{name} V2") } else { name }
}

/// The name of a Google service: `Google Calendar`, `YouTube`.
fn google(sources: NameSources<'_>) -> String {
    if let Some(name) = find(GOOGLE, sources.service) {
        return name;
    }
    let name = title::parts(sources.title, &[]).join(" ");
    if name.is_empty() {
        return format!("Google {}", text::title_case(sources.service));
    }
    let first = name.split(' ').next().unwrap_or_default();
    if UNPREFIXED_BRANDS.contains(&first) { name } else { format!("Google {name}") }
}

/// Google's products whose names don't need the prefix "Google".
#[rustfmt::skip]
const UNPREFIXED_BRANDS: &[&str] = &[
    "Google", "Google+", "Android", "Apigee", "BigQuery", "Blogger", "Chrome", "Dialogflow", "Firebase", "Gmail", "Looker",
    "YouTube",
];

/// Names of services whose titles differ from their names.
const AMAZON: &[(&str, &str)] = &[
    ("acm", "AWS Certificate Manager"),
    ("acm-pca", "AWS Private Certificate Authority"),
    ("alexaforbusiness", "Alexa for Business"),
    ("amp", "Amazon Managed Service for Prometheus"),
    ("amplifybackend", "AWS Amplify Backend"),
    ("apigatewaymanagementapi", "Amazon API Gateway Management"),
    ("apigatewayv2", "Amazon API Gateway V2"),
    ("appfabric", "AWS AppFabric"),
    ("appflow", "Amazon AppFlow"),
    ("application-autoscaling", "AWS Application Auto Scaling"),
    ("autoscaling", "Amazon EC2 Auto Scaling"),
    ("braket", "Amazon Braket"),
    ("ce", "AWS Cost Explorer"),
    ("cleanrooms", "AWS Clean Rooms"),
    ("clouddirectory", "Amazon Cloud Directory"),
    ("cloudtrail-data", "AWS CloudTrail Data"),
    ("codeartifact", "AWS CodeArtifact"),
    ("codestar-connections", "AWS CodeStar Connections"),
    ("cognito-idp", "Amazon Cognito User Pools"),
    ("comprehendmedical", "Amazon Comprehend Medical"),
    ("connect", "Amazon Connect"),
    ("connectcampaigns", "Amazon Connect Campaigns"),
    ("connectparticipant", "Amazon Connect Participant"),
    ("cur", "AWS Cost and Usage Report"),
    ("dax", "Amazon DynamoDB Accelerator (DAX)"),
    ("docdb", "Amazon DocumentDB"),
    ("drs", "AWS Elastic Disaster Recovery"),
    ("ebs", "Amazon EBS"),
    ("ec2", "Amazon EC2"),
    ("ecr", "Amazon ECR"),
    ("ecr-public", "Amazon ECR Public"),
    ("ecs", "Amazon ECS"),
    ("eks", "Amazon EKS"),
    ("elastic-inference", "Amazon Elastic Inference"),
    ("elasticfilesystem", "Amazon EFS"),
    ("email", "Amazon SES V1"),
    ("emr-serverless", "Amazon EMR Serverless"),
    ("entityresolution", "AWS Entity Resolution"),
    ("es", "Amazon Elasticsearch Service"),
    ("finspace", "Amazon FinSpace"),
    ("finspace-data", "Amazon FinSpace Data"),
    ("firehose", "Amazon Kinesis Firehose"),
    ("fms", "AWS Firewall Manager"),
    ("forecast", "Amazon Forecast"),
    ("forecastquery", "Amazon Forecast Query"),
    ("gamesparks", "Amazon GameSparks"),
    ("glacier", "Amazon S3 Glacier"),
    ("greengrass", "AWS IoT Greengrass"),
    ("health", "AWS Health"),
    ("iam", "AWS IAM"),
    ("imagebuilder", "Amazon EC2 Image Builder"),
    ("inspector", "Amazon Inspector Classic"),
    ("inspector2", "Amazon Inspector"),
    ("iot1click-devices", "AWS IoT 1-Click Devices"),
    ("iot1click-projects", "AWS IoT 1-Click Projects"),
    ("kafka", "Amazon MSK"),
    ("kafkaconnect", "Amazon MSK Connect"),
    ("kendra", "Amazon Kendra"),
    ("kms", "AWS KMS"),
    ("lex-models", "Amazon Lex Model Building"),
    ("m2", "AWS Mainframe Modernization"),
    ("macie", "Amazon Macie Classic"),
    ("macie2", "Amazon Macie"),
    ("marketplace-catalog", "AWS Marketplace Catalog"),
    ("mediapackagev2", "AWS Elemental MediaPackage V2"),
    ("meteringmarketplace", "AWS Marketplace Metering"),
    ("mgn", "AWS Application Migration Service"),
    ("migrationhubstrategy", "AWS Migration Hub Strategy Recommendations"),
    ("mwaa", "Amazon MWAA"),
    ("nimble", "Amazon Nimble Studio"),
    ("oam", "Amazon CloudWatch Observability Access Manager"),
    ("opensearchserverless", "Amazon OpenSearch Serverless"),
    ("payment-cryptography", "AWS Payment Cryptography"),
    ("payment-cryptography-data", "AWS Payment Cryptography Data"),
    ("pinpoint-email", "Amazon Pinpoint Email"),
    ("pinpoint-sms-voice-v2", "Amazon Pinpoint SMS and Voice V2"),
    ("pricing", "AWS Price List"),
    ("qldb", "Amazon QLDB"),
    ("rds", "Amazon RDS"),
    ("rds-data", "Amazon RDS Data"),
    ("redshift-data", "Amazon Redshift Data"),
    ("redshift-serverless", "Amazon Redshift Serverless"),
    ("rolesanywhere", "AWS IAM Roles Anywhere"),
    ("route53-recovery-cluster", "Amazon Route 53 Recovery Cluster"),
    ("route53-recovery-control-config", "Amazon Route 53 Recovery Control Config"),
    ("route53-recovery-readiness", "Amazon Route 53 Recovery Readiness"),
    ("rum", "Amazon CloudWatch RUM"),
    ("runtime.lex", "Amazon Lex Runtime"),
    ("s3", "Amazon S3"),
    ("s3control", "Amazon S3 Control"),
    ("sagemaker", "Amazon SageMaker"),
    ("sagemaker-edge", "Amazon SageMaker Edge Manager"),
    ("sagemaker-geospatial", "Amazon SageMaker Geospatial"),
    ("sagemaker-metrics", "Amazon SageMaker Metrics"),
    ("schemas", "Amazon EventBridge Schemas"),
    ("securityhub", "AWS Security Hub"),
    ("serverlessrepo", "AWS Serverless Application Repository"),
    ("sesv2", "Amazon SES"),
    ("sms-voice", "Amazon Pinpoint SMS and Voice"),
    ("sns", "Amazon SNS"),
    ("sqs", "Amazon SQS"),
    ("ssm", "AWS Systems Manager"),
    ("sts", "AWS STS"),
    ("synthetics", "Amazon CloudWatch Synthetics"),
    ("transcribe", "Amazon Transcribe"),
    ("wafv2", "AWS WAF V2"),
    ("wisdom", "Amazon Connect Wisdom"),
];

/// Names of services whose titles differ from their names.
const GOOGLE: &[(&str, &str)] = &[
    ("admin", "Google Workspace Admin"),
    ("adexchangebuyer2", "Google Ad Exchange Buyer II"),
    ("apigateway", "Google API Gateway"),
    ("appsactivity", "Google Drive Activity V1"),
    ("content", "Google Merchant Center"),
    ("discovery", "Google API Discovery"),
    ("iam", "Google Cloud IAM"),
    ("people", "Google People"),
    ("prod_tt_sasportal", "Google SAS Portal Testing"),
    ("script", "Google Apps Script"),
    ("shoppingcontent", "Google Merchant Center V2"),
    ("sql", "Google Cloud SQL Admin Beta"),
    ("storage", "Google Cloud Storage"),
    ("versionhistory", "Chrome Version History"),
    ("webmasters", "Google Search Console V3"),
    ("youtube", "YouTube"),
];
