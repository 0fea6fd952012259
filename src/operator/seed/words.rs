//! Words in many scripts for the names, tags and labels of generated connections. All are valid in
//! every field: they contain no commas or control characters, and do not begin or end with white
//! space.

/// A name, and its form in ASCII letters for email addresses.
pub type Name = (&'static str, &'static str);

#[derive(Debug)]
pub struct Language {
    /// The approximate percentage of connections in this language.
    pub weight: u64,
    pub given: &'static [Name],
    pub family: &'static [Name],
    /// The separator between given and family name. `None` if the family name comes first, without
    /// a separator.
    pub name_separator: Option<&'static str>,
    /// Topics of teams, organizations and projects.
    pub topics: &'static [&'static str],
    pub places: &'static [&'static str],
}

#[rustfmt::skip]
pub const LANGUAGES: &[Language] = &[
    Language {
        weight: 40,
        given: &[
            ("Emma", "emma"), ("Liam", "liam"), ("Olivia", "olivia"), ("Noah", "noah"), ("Ava", "ava"),
            ("Mason", "mason"), ("Grace", "grace"), ("Ethan", "ethan"), ("Ruby", "ruby"), ("Oscar", "oscar"),
            ("Hannah", "hannah"), ("Samuel", "samuel"), ("Chloe", "chloe"), ("Daniel", "daniel"), ("Isla", "isla"),
        ],
        family: &[
            ("Smith", "smith"), ("Jones", "jones"), ("Taylor", "taylor"), ("Brown", "brown"), ("Walker", "walker"),
            ("O'Hara", "ohara"), ("Wright", "wright"), ("Hughes", "hughes"), ("MacLeod", "macleod"),
            ("Green", "green"), ("Carter", "carter"), ("Baker", "baker"), ("Lloyd-Evans", "lloyd-evans"),
            ("Reed", "reed"), ("Moss", "moss"),
        ],
        name_separator: Some(" "),
        topics: &["Marketing", "Sales", "Support", "Billing", "Platform", "Data & Insights", "People", "Mobile"],
        places: &["London", "Austin", "Toronto", "Sydney", "Dublin", "EMEA", "Cape Town", "Auckland"],
    },
    Language {
        weight: 8,
        given: &[
            ("Jürgen", "juergen"), ("Käthe", "kaethe"), ("Sören", "soeren"), ("Anke", "anke"), ("Björn", "bjoern"),
            ("Ute", "ute"),
        ],
        family: &[
            ("Müller", "mueller"), ("Groß", "gross"), ("Weiß", "weiss"), ("Schäfer", "schaefer"),
            ("Krüger", "krueger"), ("Jäger", "jaeger"),
        ],
        name_separator: Some(" "),
        topics: &["Vertrieb", "Buchhaltung", "Forschung & Entwicklung", "Kundendienst", "Einkauf"],
        places: &["Zürich", "München", "Köln", "Österreich", "Düsseldorf"],
    },
    Language {
        weight: 8,
        given: &[
            ("Zoé", "zoe"), ("François", "francois"), ("Hélène", "helene"), ("Loïc", "loic"), ("Anaïs", "anais"),
            ("Éric", "eric"),
        ],
        family: &[
            ("Lefèvre", "lefevre"), ("Bérenger", "berenger"), ("D'Arçon", "darcon"), ("Noël", "noel"),
            ("Château", "chateau"),
        ],
        name_separator: Some(" "),
        topics: &["Équipe produit", "Ventes", "Comptabilité", "Données", "Sécurité"],
        places: &["Genève", "Montréal", "Besançon", "Liège", "Orléans"],
    },
    Language {
        weight: 6,
        given: &[
            ("José", "jose"), ("Begoña", "begona"), ("Íñigo", "inigo"), ("María", "maria"), ("Ángel", "angel"),
            ("Inês", "ines"),
        ],
        family: &[
            ("Núñez", "nunez"), ("Gutiérrez", "gutierrez"), ("Peña", "pena"), ("Conceição", "conceicao"),
            ("Agüero", "aguero"),
        ],
        name_separator: Some(" "),
        topics: &["Atención al cliente", "Facturación", "Logística", "Ingeniería", "Operações"],
        places: &["Bogotá", "Málaga", "Córdoba", "São Paulo", "Asunción"],
    },
    Language {
        weight: 5,
        given: &[
            ("Łukasz", "lukasz"), ("Żaneta", "zaneta"), ("Jiří", "jiri"), ("Šárka", "sarka"),
            ("Małgorzata", "malgorzata"), ("Ödön", "odon"),
        ],
        family: &[
            ("Wójcik", "wojcik"), ("Dvořák", "dvorak"), ("Świątek", "swiatek"), ("Növák", "novak"),
            ("Szőke", "szoke"),
        ],
        name_separator: Some(" "),
        topics: &["Sprzedaż", "Księgowość", "Vývoj", "Zákaznická podpora"],
        places: &["Łódź", "Kraków", "Plzeň", "Győr"],
    },
    Language {
        weight: 3,
        given: &[
            ("İbrahim", "ibrahim"), ("Işıl", "isil"), ("Çağla", "cagla"), ("Ömer", "omer"), ("Gülşen", "gulsen"),
        ],
        family: &[("Yılmaz", "yilmaz"), ("Öztürk", "ozturk"), ("Şahin", "sahin"), ("Doğan", "dogan")],
        name_separator: Some(" "),
        topics: &["Satış", "Müşteri İlişkileri", "Yazılım"],
        places: &["İstanbul", "İzmir", "Eskişehir"],
    },
    Language {
        weight: 4,
        given: &[
            ("Γιώργος", "giorgos"), ("Ελένη", "eleni"), ("Νίκος", "nikos"), ("Σοφία", "sofia"),
            ("Οδυσσέας", "odysseas"),
        ],
        family: &[
            ("Παππάς", "pappas"), ("Οικονόμου", "oikonomou"), ("Βλάχος", "vlachos"), ("Δημητρίου", "dimitriou"),
        ],
        name_separator: Some(" "),
        topics: &["Πωλήσεις", "Υποστήριξη", "ΕΡΓΟ ΟΔΟΣ"],
        places: &["Αθήνα", "Θεσσαλονίκη", "Λευκωσία"],
    },
    Language {
        weight: 6,
        given: &[
            ("Анна", "anna"), ("Дмитро", "dmytro"), ("Ђорђе", "djordje"), ("Ольга", "olha"), ("Фёдор", "fyodor"),
            ("Ївга", "yivha"),
        ],
        family: &[
            ("Коваленко", "kovalenko"), ("Петровић", "petrovic"), ("Иванов", "ivanov"), ("Щербак", "shcherbak"),
            ("Цветков", "tsvetkov"),
        ],
        name_separator: Some(" "),
        topics: &["Продажи", "Підтримка", "Разработка", "Бухгалтерия"],
        places: &["Київ", "Београд", "София", "Львів"],
    },
    Language {
        weight: 5,
        given: &[("محمد", "mohammed"), ("فاطمة", "fatima"), ("ليلى", "layla"), ("يوسف", "yusuf"), ("نور", "nour")],
        family: &[("الأحمد", "alahmad"), ("حداد", "haddad"), ("المصري", "almasri"), ("خوري", "khoury")],
        name_separator: Some(" "),
        topics: &["المبيعات", "الدعم الفني", "التسويق"],
        places: &["القاهرة", "دبي", "الرباط"],
    },
    Language {
        weight: 2,
        given: &[("נועה", "noa"), ("אורי", "uri"), ("תמר", "tamar"), ("יונתן", "yonatan")],
        family: &[("כהן", "cohen"), ("לוי", "levi"), ("פרץ", "peretz"), ("ג׳קסון", "jackson")],
        name_separator: Some(" "),
        topics: &["מכירות", "תמיכה", "פיתוח"],
        places: &["חיפה", "ירושלים"],
    },
    Language {
        weight: 4,
        given: &[
            ("आरव", "aarav"), ("प्रिया", "priya"), ("सुनीता", "sunita"), ("राहुल", "rahul"), ("कृष्ण", "krishna"),
        ],
        family: &[("शर्मा", "sharma"), ("सिंह", "singh"), ("वर्मा", "verma"), ("द्विवेदी", "dwivedi")],
        name_separator: Some(" "),
        topics: &["बिक्री", "सहायता", "विपणन"],
        places: &["दिल्ली", "मुंबई", "पुणे"],
    },
    Language {
        weight: 2,
        given: &[("สมชาย", "somchai"), ("มาลี", "malee"), ("ณัฐพล", "nattapon"), ("กานดา", "kanda")],
        family: &[("ใจดี", "jaidee"), ("ศรีสุข", "srisuk"), ("วงศ์สวัสดิ์", "wongsawat")],
        name_separator: Some(" "),
        topics: &["ฝ่ายขาย", "บริการลูกค้า"],
        places: &["กรุงเทพฯ", "เชียงใหม่"],
    },
    Language {
        weight: 4,
        given: &[("伟", "wei"), ("秀英", "xiuying"), ("建国", "jianguo"), ("芳", "fang"), ("子涵", "zihan"), ("𠮷", "ji")],
        family: &[("王", "wang"), ("李", "li"), ("陳", "chen"), ("歐陽", "ouyang"), ("赵", "zhao")],
        name_separator: None,
        topics: &["销售部", "客服團隊", "研发中心"],
        places: &["上海", "臺北", "深圳"],
    },
    Language {
        weight: 4,
        given: &[("さくら", "sakura"), ("健太", "kenta"), ("ユキ", "yuki"), ("陽菜", "hina"), ("大輔", "daisuke")],
        family: &[("佐藤", "sato"), ("髙橋", "takahashi"), ("渡邊", "watanabe"), ("ブラウン", "brown")],
        name_separator: None,
        topics: &["営業部", "開発チーム", "カスタマーサポート"],
        places: &["東京", "大阪", "札幌"],
    },
    Language {
        weight: 3,
        given: &[("민준", "minjun"), ("서연", "seoyeon"), ("지훈", "jihoon"), ("하은", "haeun")],
        family: &[("김", "kim"), ("이", "lee"), ("박", "park"), ("남궁", "namgung")],
        name_separator: None,
        topics: &["영업팀", "고객지원", "연구소"],
        places: &["서울", "부산", "제주"],
    },
];

/// Tags in descending order of frequency.
#[rustfmt::skip]
pub const TAGS: &[&str] = &[
    "production", "crm", "eu", "us", "billing", "staging", "internal", "priority", "read-only", "marketing",
    "sales", "support", "team:core", "team:growth", "tier-1", "tier-2", "beta", "legacy", "migrated", "apac",
    "gdpr", "nightly sync", "needs review", "Q3 2026", "owner@example.com", "région-ouest", "größer", "продажи",
    "πελάτες", "営業", "마케팅", "财务", "مبيعات", "מכירות", "परीक्षण", "ทดสอบ", "🚀 launch", "50% off", "c++", "a/b_test",
];

/// Labels other than `default`, in descending order of frequency.
#[rustfmt::skip]
pub const LABELS: &[&str] =
    &["work", "personal", "sandbox", "eu", "us", "backup", "read-only", "v2"];

/// Domains that cannot be registered.
#[rustfmt::skip]
pub const DOMAINS: &[&str] = &[
    "example.com", "example.org", "example.net", "mail.example.com", "acme.example", "globex.example",
    "initech.example",
];

/// Names of projects and teams in identifiers.
#[rustfmt::skip]
pub const SLUGS: &[&str] = &[
    "billing", "crm", "data", "mobile", "web", "growth", "search", "payments", "onboarding", "infra", "ml", "docs",
];
