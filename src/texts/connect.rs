//! The texts of the pages on which users connect accounts.

use super::{Text, texts};

texts! {
    // How pages refer to an app without a name.
    THIS_APP:
        "this app",
        "diese App",
        "cette application",
        "esta aplicación",
        "このアプリ";
    THIS_APP_DATIVE:
        "this app",
        "dieser App",
        "cette application",
        "esta aplicación",
        "このアプリ";
    THE_APP:
        "the app",
        "die App",
        "l’application",
        "la aplicación",
        "アプリ";
    THE_APP_DATIVE:
        "the app",
        "der App",
        "l’application",
        "la aplicación",
        "アプリ";

    // How pages refer to the owner of a connection, by identity type.
    USER:
        "the user",
        "den Benutzer",
        "l’utilisateur",
        "el usuario",
        "ユーザー";
    TEAM:
        "the team",
        "das Team",
        "l’équipe",
        "el equipo",
        "チーム";
    ORGANIZATION:
        "the organization",
        "die Organisation",
        "l’organisation",
        "la organización",
        "組織";
    PROJECT:
        "the project",
        "das Projekt",
        "le projet",
        "el proyecto",
        "プロジェクト";

    // The page of a connect link.
    LINK_TITLE:
        "Connect {platform} to {app}?",
        "{platform} mit {appDative} verbinden?",
        "Connecter {platform} à {app}\u{a0}?",
        "¿Conectar {platform} a {app}?",
        "{platform}を{app}と連携しますか？";
    LINK_WHAT:
        "This link connects an account at {platform} to {app}, for {owner} “{identity}”.",
        "Dieser Link verbindet ein Konto bei {platform} mit {appDative}, und zwar für {owner} „{identity}“.",
        "Ce lien connecte un compte {platform} à {app}, pour {owner} «\u{a0}{identity}\u{a0}».",
        "Este enlace conecta una cuenta de {platform} a {app}, para {owner} «{identity}».",
        "このリンクでは、{platform}のアカウントを{app}の{owner}「{identity}」と連携します。";
    LINK_WHEN:
        "Did you start this in {app}, or did you ask its support or an AI assistant for this link? Then continue: {app} will be able to use your {platform} account.",
        "Haben Sie das in {appDative} selbst begonnen, oder haben Sie den Support der App oder einen KI-Assistenten um diesen Link gebeten? Dann fahren Sie fort. Danach kann {app} auf Ihr Konto bei {platform} zugreifen.",
        "Avez-vous vous-même commencé cette opération dans {app}, ou demandé ce lien à l’assistance de l’application ou à un assistant IA\u{a0}? Dans ce cas, continuez\u{a0}: {app} pourra utiliser votre compte {platform}.",
        "¿Ha iniciado usted esta operación en {app}, o ha pedido este enlace al servicio de asistencia de la aplicación o a un asistente de IA? En ese caso, continúe: {app} podrá usar su cuenta de {platform}.",
        "ご自身が{app}でこの操作を始めた場合、または{app}のサポート窓口やAIアシスタントにこのリンクを依頼した場合は、続けてください。続けると、{app}が{platform}のアカウントを利用できるようになります。";
    LINK_OTHERWISE:
        "If you did not expect this link, close this page. The person who sent it could use your {platform} account through {app}.",
        "Wenn Sie diesen Link nicht erwartet haben, schließen Sie diese Seite. Die Person, die ihn gesendet hat, könnte Ihr Konto bei {platform} über {app} verwenden.",
        "Si vous n’attendiez pas ce lien, fermez cette page. La personne qui l’a envoyé pourrait utiliser votre compte {platform} par l’intermédiaire de {app}.",
        "Si no esperaba este enlace, cierre esta página. La persona que se lo ha enviado podría usar su cuenta de {platform} a través de {app}.",
        "心当たりのないリンクの場合は、このページを閉じてください。リンクを送った人が、{app}を通じてお客様の{platform}アカウントを使えるようになるおそれがあります。";
    LINK_YES:
        "Yes, continue to {platform}",
        "Ja, weiter zu {platform}",
        "Oui, continuer vers {platform}",
        "Sí, continuar en {platform}",
        "はい、{platform}に進む";

    // Connect links that are no longer valid.
    LINK_INVALID:
        "This link is no longer valid",
        "Dieser Link ist nicht mehr gültig",
        "Ce lien n’est plus valable",
        "Este enlace ya no es válido",
        "このリンクは無効です";
    LINK_INVALID_WHY:
        "It is not complete, or too old.",
        "Er ist unvollständig oder zu alt.",
        "Il est incomplet ou trop ancien.",
        "Está incompleto o es demasiado antiguo.",
        "リンクが不完全か、古くなっています。";
    LINK_EXPIRED:
        "This link has expired",
        "Dieser Link ist abgelaufen",
        "Ce lien a expiré",
        "Este enlace ha caducado",
        "このリンクの有効期限が切れました";
    LINK_EXPIRED_WHY:
        "For your safety, a link works for 10 minutes. Nothing was connected.",
        "Zu Ihrer Sicherheit funktioniert ein Link nur 10 Minuten lang. Es wurde nichts verbunden.",
        "Pour votre sécurité, un lien ne fonctionne que pendant 10 minutes. Aucun compte n’a été connecté.",
        "Por su seguridad, un enlace funciona durante 10 minutos. No se ha conectado nada.",
        "安全のため、リンクは10分間だけ有効です。何も連携されていません。";
    LINK_USED:
        "This link has been used",
        "Dieser Link wurde bereits verwendet",
        "Ce lien a déjà été utilisé",
        "Este enlace ya se ha usado",
        "このリンクは使用済みです";
    LINK_USED_CONNECTED:
        "{platform} is connected. A link works once: there is nothing left to do here.",
        "{platform} ist verbunden. Ein Link funktioniert nur einmal: Hier ist nichts mehr zu tun.",
        "{platform} est connecté. Un lien ne fonctionne qu’une fois\u{a0}: il n’y a plus rien à faire ici.",
        "{platform} está conectado. Un enlace funciona una sola vez: aquí ya no hay nada más que hacer.",
        "{platform}は連携済みです。リンクは一度しか使えません。ここで必要な操作はもうありません。";
    LINK_USED_NOT_CONNECTED:
        "{platform} was not connected with it. A link works once.",
        "{platform} wurde damit nicht verbunden. Ein Link funktioniert nur einmal.",
        "Il n’a pas permis de connecter {platform}. Un lien ne fonctionne qu’une fois.",
        "Con él no se ha conectado {platform}. Un enlace funciona una sola vez.",
        "このリンクで{platform}は連携されませんでした。リンクは一度しか使えません。";
    START_AGAIN_OR_ASK:
        "Go back to the app and start again, or ask the person who sent you the link for a new one.",
        "Kehren Sie zur App zurück und beginnen Sie von vorn, oder bitten Sie die Person, die Ihnen den Link gesendet hat, um einen neuen.",
        "Revenez à l’application et recommencez, ou demandez un nouveau lien à la personne qui vous l’a envoyé.",
        "Vuelva a la aplicación y empiece de nuevo, o pida otro enlace a la persona que se lo ha enviado.",
        "アプリに戻って最初からやり直すか、リンクを送った人に新しいリンクを依頼してください。";
    OTHER_BROWSER:
        "This was started in another browser",
        "Dieser Vorgang wurde in einem anderen Browser begonnen",
        "Cette opération a été commencée dans un autre navigateur",
        "Esto se ha iniciado en otro navegador",
        "別のブラウザーで始められた操作です";
    OTHER_BROWSER_WHY:
        "For your safety, an account can be connected only in the browser in which it was confirmed first. Nothing was connected.",
        "Zu Ihrer Sicherheit kann ein Konto nur in dem Browser verbunden werden, in dem der Vorgang zuerst bestätigt wurde. Es wurde nichts verbunden.",
        "Pour votre sécurité, un compte ne peut être connecté que dans le navigateur où l’opération a été confirmée en premier. Aucun compte n’a été connecté.",
        "Por su seguridad, una cuenta solo se puede conectar en el navegador en el que se confirmó primero. No se ha conectado nada.",
        "安全のため、アカウントの連携は、最初に確認を行ったブラウザーでのみ行えます。何も連携されていません。";
    OTHER_BROWSER_NEXT:
        "Go back to the app in this browser and start again.",
        "Kehren Sie in diesem Browser zur App zurück und beginnen Sie von vorn.",
        "Revenez à l’application dans ce navigateur et recommencez.",
        "Vuelva a la aplicación en este navegador y empiece de nuevo.",
        "このブラウザーでアプリに戻り、最初からやり直してください。";
    CROSS_SITE:
        "Open the link itself",
        "Öffnen Sie den Link direkt",
        "Ouvrez directement le lien",
        "Abra el enlace directamente",
        "リンクを直接開いてください";
    CROSS_SITE_WHY:
        "Another site sent this request, so nothing was started. Open the link again and confirm it there.",
        "Diese Anfrage kam von einer anderen Website, daher wurde nichts gestartet. Öffnen Sie den Link noch einmal und bestätigen Sie ihn dort.",
        "Cette demande provient d’un autre site, rien n’a donc été lancé. Ouvrez de nouveau le lien et confirmez sur la page qui s’affiche.",
        "Esta solicitud procede de otro sitio, por lo que no se ha iniciado nada. Abra el enlace de nuevo y confírmelo allí.",
        "別のサイトから送られたリクエストのため、何も開始されませんでした。リンクをもう一度開き、そのページで確認してください。";
    CONFIG_CHANGED:
        "This platform can't be connected at the moment",
        "Diese Plattform kann derzeit nicht verbunden werden",
        "Cette plateforme ne peut pas être connectée pour le moment",
        "Esta plataforma no se puede conectar por ahora",
        "現在、このプラットフォームを連携できません";
    CONFIG_CHANGED_WHY:
        "The app's settings for this platform have changed since you started.",
        "Die Einstellungen der App für diese Plattform wurden inzwischen geändert.",
        "Les paramètres de l’application pour cette plateforme ont changé depuis que vous avez commencé.",
        "La configuración de la aplicación para esta plataforma ha cambiado desde que empezó.",
        "操作の途中で、このプラットフォームに関するアプリの設定が変更されました。";
    CONFIG_CHANGED_NEXT:
        "Go back to the app and start again. If that does not help, contact the people who run it.",
        "Kehren Sie zur App zurück und beginnen Sie von vorn. Wenn das nicht hilft, wenden Sie sich an deren Betreiber.",
        "Revenez à l’application et recommencez. Si cela ne suffit pas, contactez ses responsables.",
        "Vuelva a la aplicación y empiece de nuevo. Si no funciona, póngase en contacto con sus responsables.",
        "アプリに戻り、最初からやり直してください。解決しない場合は、アプリの運営者にお問い合わせください。";

    // Links on pages.
    GO_BACK:
        "Go back to {theApp}",
        "Zurück zu {theAppDative}",
        "Revenir à {theApp}",
        "Volver a {theApp}",
        "{theApp}に戻る";
    TRY_AGAIN:
        "Try again",
        "Erneut versuchen",
        "Réessayer",
        "Reintentar",
        "もう一度試す";
    GO_BACK_TO_THE_APP:
        "Go back to the app",
        "Zurück zur App",
        "Revenir à l’application",
        "Volver a la aplicación",
        "アプリに戻る";

    // The page at the callback.
    INCOMPLETE:
        "This address is incomplete",
        "Diese Adresse ist unvollständig",
        "Cette adresse est incomplète",
        "Esta dirección está incompleta",
        "アドレスが不完全です";
    UNREADABLE_WHY:
        "The platform sent you back with information that is missing or can't be read. Nothing was connected.",
        "Die Plattform hat Sie mit unvollständigen oder unlesbaren Angaben zurückgeleitet. Es wurde nichts verbunden.",
        "Les informations transmises par la plateforme sont incomplètes ou illisibles. Aucun compte n’a été connecté.",
        "La plataforma ha devuelto información incompleta o ilegible. No se ha conectado nada.",
        "プラットフォームから返された情報が不足しているか、読み取れません。何も連携されていません。";
    START_AGAIN:
        "Go back to the app and start again.",
        "Kehren Sie zur App zurück und beginnen Sie von vorn.",
        "Revenez à l’application et recommencez.",
        "Vuelva a la aplicación y empiece de nuevo.",
        "アプリに戻り、最初からやり直してください。";
    UNSOLICITED_WHY:
        "You came here directly from a platform. Nothing was connected.",
        "Sie sind direkt von einer Plattform hierhergekommen. Es wurde nichts verbunden.",
        "Vous arrivez ici directement depuis une plateforme. Aucun compte n’a été connecté.",
        "Ha llegado aquí directamente desde una plataforma. No se ha conectado nada.",
        "プラットフォームから直接このページが開かれました。何も連携されていません。";
    UNSOLICITED_NEXT:
        "Start in the app. It will take you to the platform again.",
        "Beginnen Sie in der App. Sie führt Sie dann wieder zur Plattform.",
        "Commencez dans l’application. Elle vous redirigera vers la plateforme.",
        "Empiece en la aplicación. Esta le llevará de nuevo a la plataforma.",
        "アプリから始めてください。アプリからもう一度プラットフォームに移動します。";
    START_WITH:
        "Start with {platform}",
        "Mit {platform} beginnen",
        "Commencer avec {platform}",
        "Empezar con {platform}",
        "{platform}から始める";
    START_IN_THE_APP:
        "Start in the app",
        "In der App beginnen",
        "Commencer dans l’application",
        "Empezar en la aplicación",
        "アプリから始める";
    ONE_MOMENT:
        "One moment",
        "Einen Moment bitte",
        "Un instant",
        "Un momento",
        "しばらくお待ちください";
    IN_ANOTHER_TAB:
        "Your account is being connected in another tab. You can close this page.",
        "Ihr Konto wird gerade in einem anderen Tab verbunden. Sie können diese Seite schließen.",
        "Votre compte est en cours de connexion dans un autre onglet. Vous pouvez fermer cette page.",
        "Su cuenta se está conectando en otra pestaña. Puede cerrar esta página.",
        "別のタブでアカウントを連携しています。このページは閉じてかまいません。";
    CONNECTED:
        "{platform} is connected",
        "{platform} ist verbunden",
        "{platform} est connecté",
        "{platform} está conectado",
        "{platform}を連携しました";
    CONNECTED_NEXT:
        "You can close this page and go back to the app.",
        "Sie können diese Seite schließen und zur App zurückkehren.",
        "Vous pouvez fermer cette page et revenir à l’application.",
        "Puede cerrar esta página y volver a la aplicación.",
        "このページを閉じて、アプリに戻ってください。";
    NOT_CONNECTED:
        "{platform} was not connected",
        "{platform} wurde nicht verbunden",
        "{platform} n’a pas été connecté",
        "No se ha conectado {platform}",
        "{platform}は連携されませんでした";
    COULD_NOT_CONNECT:
        "{platform} could not be connected",
        "{platform} konnte nicht verbunden werden",
        "{platform} n’a pas pu être connecté",
        "No se ha podido conectar {platform}",
        "{platform}を連携できませんでした";

    // Why an attempt failed, by error code.
    DENIED:
        "Access was not allowed at {platform}.",
        "Der Zugriff wurde bei {platform} nicht erlaubt.",
        "L’accès n’a pas été autorisé chez {platform}.",
        "No se ha permitido el acceso en {platform}.",
        "{platform}でアクセスが許可されませんでした。";
    ACCOUNT_MISMATCH:
        "You signed in to {platform} with a different account than expected. Sign in with the expected account.",
        "Sie haben sich bei {platform} mit einem anderen Konto angemeldet als erwartet. Melden Sie sich mit dem erwarteten Konto an.",
        "Le compte que vous avez utilisé pour vous connecter à {platform} n’est pas le compte attendu. Connectez-vous avec le compte attendu.",
        "Ha iniciado sesión en {platform} con una cuenta distinta de la esperada. Inicie sesión con la cuenta esperada.",
        "{platform}に、想定とは別のアカウントでログインしました。想定されたアカウントでログインしてください。";
    CONNECTION_EXISTS:
        "This account was connected in the meantime, perhaps in another tab.",
        "Dieses Konto wurde inzwischen verbunden, vielleicht in einem anderen Tab.",
        "Ce compte a été connecté entre-temps, peut-être dans un autre onglet.",
        "Esta cuenta se ha conectado entretanto, quizá en otra pestaña.",
        "このアカウントは、別のタブなどですでに連携されています。";
    CONNECTION_NOT_FOUND:
        "The connection was deleted in the meantime.",
        "Die Verbindung wurde inzwischen gelöscht.",
        "La connexion a été supprimée entre-temps.",
        "La conexión se ha eliminado entretanto.",
        "この連携は操作の途中で削除されました。";
    CONNECTION_LIMIT:
        "The connection could not be created: the app has reached its limit.",
        "Die Verbindung konnte nicht erstellt werden: Die App hat ihr Limit erreicht.",
        "La connexion n’a pas pu être créée\u{a0}: l’application a atteint sa limite.",
        "No se ha podido crear la conexión: la aplicación ha alcanzado su límite.",
        "アプリの上限に達したため、連携を作成できませんでした。";
    CLIENT_REJECTED:
        "{platform} rejects the app.",
        "{platform} akzeptiert die App nicht.",
        "{platform} n’accepte pas l’application.",
        "{platform} no acepta la aplicación.",
        "{platform}がアプリを受け付けません。";
    REQUEST_REJECTED:
        "{platform} rejects the app's request.",
        "{platform} hat die Anfrage der App abgelehnt.",
        "{platform} a refusé la demande de l’application.",
        "{platform} ha rechazado la solicitud de la aplicación.",
        "{platform}がアプリのリクエストを拒否しました。";
    CODE_REJECTED:
        "{platform} no longer accepts its own code.",
        "{platform} akzeptiert den eigenen Code nicht mehr.",
        "{platform} n’accepte plus son propre code.",
        "{platform} ya no acepta su propio código.",
        "{platform}が発行したコードは、もう受け付けられません。";
    PLATFORM_UNAVAILABLE:
        "{platform} can't be reached, or has a problem.",
        "{platform} ist nicht erreichbar oder hat ein Problem.",
        "{platform} est injoignable ou rencontre un problème.",
        "No se puede acceder a {platform}, o la plataforma tiene un problema.",
        "{platform}に接続できないか、問題が発生しています。";
    INVALID_RESPONSE:
        "{platform} sent an unusable response.",
        "{platform} hat eine unbrauchbare Antwort gesendet.",
        "{platform} a envoyé une réponse inutilisable.",
        "{platform} ha enviado una respuesta no válida.",
        "{platform}からの応答が正しくありません。";
    ISSUER_MISMATCH:
        "The response did not come from {platform}, so it was not used.",
        "Die Antwort kam nicht von {platform} und wurde daher nicht verwendet.",
        "La réponse ne provenait pas de la plateforme {platform}, elle n’a donc pas été utilisée.",
        "La respuesta no procedía de {platform}, por lo que no se ha utilizado.",
        "{platform}からの応答ではないため、使用されませんでした。";
    CHANGED:
        "The app's settings for this platform have changed since you started.",
        "Die Einstellungen der App für diese Plattform wurden inzwischen geändert.",
        "Les paramètres de l’application pour cette plateforme ont changé depuis que vous avez commencé.",
        "La configuración de la aplicación para esta plataforma ha cambiado desde que empezó.",
        "操作の途中で、このプラットフォームに関するアプリの設定が変更されました。";
    INTERRUPTED:
        "The service was interrupted.",
        "Der Dienst wurde unterbrochen.",
        "Le service a été interrompu.",
        "El servicio se ha interrumpido.",
        "サービスが中断されました。";

    // What the user can do next.
    NEXT_START_AGAIN:
        "If you still want to connect, go back to the app and start again.",
        "Wenn Sie das Konto weiterhin verbinden möchten, kehren Sie zur App zurück und beginnen Sie von vorn.",
        "Si vous souhaitez toujours connecter ce compte, revenez à l’application et recommencez.",
        "Si aún desea conectar la cuenta, vuelva a la aplicación y empiece de nuevo.",
        "連携を続ける場合は、アプリに戻り、最初からやり直してください。";
    NEXT_TRY_AGAIN:
        "If you still want to connect, try again. Nothing was changed.",
        "Wenn Sie das Konto weiterhin verbinden möchten, versuchen Sie es noch einmal. Es wurde nichts geändert.",
        "Si vous souhaitez toujours connecter ce compte, réessayez. Rien n’a été modifié.",
        "Si aún desea conectar la cuenta, inténtelo de nuevo. No se ha cambiado nada.",
        "連携を続ける場合は、もう一度お試しください。変更されたものはありません。";
    NEXT_TRY_LATER:
        "Nothing is wrong with your account. Wait a few minutes, then try again.",
        "Mit Ihrem Konto ist alles in Ordnung. Warten Sie einige Minuten und versuchen Sie es dann noch einmal.",
        "Votre compte n’est pas en cause. Attendez quelques minutes, puis réessayez.",
        "Su cuenta no tiene ningún problema. Espere unos minutos e inténtelo de nuevo.",
        "アカウントに問題はありません。数分待ってから、もう一度お試しください。";
    NEXT_GO_BACK:
        "Go back to the app. Nothing else was changed.",
        "Kehren Sie zur App zurück. Sonst wurde nichts geändert.",
        "Revenez à l’application. Rien d’autre n’a été modifié.",
        "Vuelva a la aplicación. No se ha cambiado nada más.",
        "アプリに戻ってください。ほかに変更されたものはありません。";
    NEXT_CONTACT:
        "You can't fix this yourself. Contact the people who run the app.",
        "Sie können das nicht selbst beheben. Wenden Sie sich an die Betreiber der App.",
        "Vous ne pouvez pas résoudre ce problème vous-même. Contactez les responsables de l’application.",
        "No puede solucionarlo por su cuenta. Póngase en contacto con los responsables de la aplicación.",
        "お客様ご自身では解決できません。アプリの運営者にお問い合わせください。";
    NEXT_LATER:
        "Nothing is wrong with your account. Go back to the app and try again later.",
        "Mit Ihrem Konto ist alles in Ordnung. Kehren Sie zur App zurück und versuchen Sie es später noch einmal.",
        "Votre compte n’est pas en cause. Revenez à l’application et réessayez plus tard.",
        "Su cuenta no tiene ningún problema. Vuelva a la aplicación e inténtelo más tarde.",
        "アカウントに問題はありません。アプリに戻り、しばらくしてからもう一度お試しください。";
}
