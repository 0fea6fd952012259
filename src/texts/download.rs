//! The texts of the pages that download links open.

use super::{Text, texts};

texts! {
    CAN_NOT:
        "The file can't be downloaded",
        "Die Datei kann nicht heruntergeladen werden",
        "Le fichier ne peut pas être téléchargé",
        "El archivo no se puede descargar",
        "ファイルをダウンロードできません";
    STATUS:
        "The platform responded with status {status}.",
        "Die Plattform hat mit Status {status} geantwortet.",
        "La plateforme a répondu avec le statut {status}.",
        "La plataforma ha respondido con el estado {status}.",
        "プラットフォームの応答ステータスは{status}です。";
    NO_RESPONSE:
        "The platform did not respond.",
        "Die Plattform hat nicht geantwortet.",
        "La plateforme n’a pas répondu.",
        "La plataforma no ha respondido.",
        "プラットフォームから応答がありませんでした。";
    GONE:
        "This link no longer works",
        "Dieser Link funktioniert nicht mehr",
        "Ce lien ne fonctionne plus",
        "Este enlace ya no funciona",
        "このリンクはもう使えません";
    GONE_WHY:
        "It has expired, or the agent no longer has access. Ask your agent for the file again.",
        "Er ist abgelaufen, oder der Agent hat keinen Zugriff mehr. Bitten Sie Ihren Agenten noch einmal um die Datei.",
        "Il a expiré, ou l’agent n’a plus accès. Demandez de nouveau le fichier à votre agent.",
        "Ha caducado o el agente ya no tiene acceso. Pida de nuevo el archivo a su agente.",
        "有効期限が切れているか、エージェントのアクセス権がなくなっています。エージェントにもう一度ファイルを依頼してください。";
}
