//! The texts of the page on which a user decides on an agent's call.

use super::{Text, texts};

texts! {
    APPROVAL_TITLE:
        "Let “{agent}” do this?",
        "„{agent}“ diese Aktion erlauben?",
        "Autoriser «\u{a0}{agent}\u{a0}» à effectuer cette action\u{a0}?",
        "¿Permitir que «{agent}» haga esto?",
        "「{agent}」にこの操作を許可しますか？";
    APPROVAL_WHAT:
        "An agent that has access to your accounts wants to make a change, and needs your approval. It runs once, exactly as shown here.",
        "Ein Agent mit Zugriff auf Ihre Konten möchte eine Änderung vornehmen und benötigt Ihre Genehmigung. Die Änderung wird einmal ausgeführt, genau wie hier gezeigt.",
        "Un agent ayant accès à vos comptes souhaite effectuer une modification et a besoin de votre accord. Elle sera exécutée une seule fois, exactement comme indiqué ici.",
        "Un agente con acceso a sus cuentas quiere hacer un cambio y necesita su aprobación. Se ejecutará una sola vez, exactamente como se muestra aquí.",
        "アカウントにアクセスできるエージェントが変更を行おうとしており、承認が必要です。ここに示すとおりに、一度だけ実行されます。";
    APPROVAL_DECLINE:
        "If you did not ask for this, decline.",
        "Wenn Sie das nicht veranlasst haben, lehnen Sie ab.",
        "Si vous n’êtes pas à l’origine de cette demande, refusez.",
        "Si no lo ha pedido usted, rechace la solicitud.",
        "ご自身が依頼したものでない場合は、拒否してください。";
    AGENT:
        "Agent",
        "Agent",
        "Agent",
        "Agente",
        "エージェント";
    PLATFORM:
        "Platform",
        "Plattform",
        "Plateforme",
        "Plataforma",
        "プラットフォーム";
    ACCOUNT:
        "Account",
        "Konto",
        "Compte",
        "Cuenta",
        "アカウント";
    CONNECTED_BY:
        "{name} (connected by {identity})",
        "{name} (verbunden von {identity})",
        "{name} (connecté par {identity})",
        "{name} (conectada por {identity})",
        "{name}（連携したユーザー：{identity}）";
    ACTION:
        "Action",
        "Aktion",
        "Action",
        "Acción",
        "操作";
    REQUEST:
        "Request",
        "Anfrage",
        "Requête",
        "Solicitud",
        "リクエスト";
    INPUT:
        "Input",
        "Eingabe",
        "Données envoyées",
        "Datos de entrada",
        "入力内容";
    APPROVE:
        "Approve",
        "Genehmigen",
        "Approuver",
        "Aprobar",
        "承認する";
    NOT_APPROVED_WHY:
        "Another site sent this request, so nothing was approved. Open the agent's link again.",
        "Diese Anfrage kam von einer anderen Website, daher wurde nichts genehmigt. Öffnen Sie den Link des Agenten noch einmal.",
        "Cette demande provient d’un autre site, rien n’a donc été approuvé. Ouvrez de nouveau le lien de l’agent.",
        "Esta solicitud procede de otro sitio, por lo que no se ha aprobado nada. Abra de nuevo el enlace del agente.",
        "別のサイトから送られたリクエストのため、何も承認されませんでした。エージェントのリンクをもう一度開いてください。";
    DECLINED:
        "Declined",
        "Abgelehnt",
        "Demande refusée",
        "Solicitud rechazada",
        "拒否しました";
    DECLINED_NEXT:
        "Nothing was changed. You can close this page.",
        "Es wurde nichts geändert. Sie können diese Seite schließen.",
        "Rien n’a été modifié. Vous pouvez fermer cette page.",
        "No se ha cambiado nada. Puede cerrar esta página.",
        "変更されたものはありません。このページは閉じてかまいません。";
    APPROVED:
        "Approved",
        "Genehmigt",
        "Demande approuvée",
        "Solicitud aprobada",
        "承認しました";
    APPROVED_NEXT:
        "Go back to your agent. You can close this page.",
        "Kehren Sie zu Ihrem Agenten zurück. Sie können diese Seite schließen.",
        "Revenez à votre agent. Vous pouvez fermer cette page.",
        "Vuelva a su agente. Puede cerrar esta página.",
        "エージェントに戻ってください。このページは閉じてかまいません。";
    CALL_SUCCEEDED:
        "Done: the platform responded with status {status}.",
        "Erledigt: Die Plattform hat mit Status {status} geantwortet.",
        "C’est fait\u{a0}: la plateforme a répondu avec le statut {status}.",
        "Hecho: la plataforma ha respondido con el estado {status}.",
        "完了しました。プラットフォームの応答ステータスは{status}です。";
    CALL_REFUSED:
        "The platform refused the call with status {status}.",
        "Die Plattform hat den Aufruf mit Status {status} abgelehnt.",
        "La plateforme a refusé l’appel avec le statut {status}.",
        "La plataforma ha rechazado la llamada con el estado {status}.",
        "プラットフォームがステータス{status}で呼び出しを拒否しました。";
    DID_SENT:
        "It was sent.",
        "Die Anfrage wurde gesendet.",
        "La requête a été envoyée.",
        "La solicitud se ha enviado.",
        "送信しました。";
    DID_NO_RESPONSE:
        "The platform did not respond. The call may have been made: check before you ask for it again.",
        "Die Plattform hat nicht geantwortet. Der Aufruf wurde möglicherweise ausgeführt: Prüfen Sie das, bevor Sie ihn noch einmal veranlassen.",
        "La plateforme n’a pas répondu. L’appel a peut-être été effectué\u{a0}: vérifiez avant de le redemander.",
        "La plataforma no ha respondido. Es posible que la llamada se haya realizado: compruébelo antes de volver a pedirla.",
        "プラットフォームから応答がありませんでした。呼び出しが実行された可能性があります。もう一度依頼する前に確認してください。";
    DID_NOT:
        "The call was not made. Your agent can tell you why.",
        "Der Aufruf wurde nicht ausgeführt. Ihr Agent kann Ihnen den Grund nennen.",
        "L’appel n’a pas été effectué. Votre agent peut vous en donner la raison.",
        "La llamada no se ha realizado. Su agente puede indicarle el motivo.",
        "呼び出しは実行されませんでした。理由はエージェントに確認してください。";
    RESULT_LOST:
        "Your agent will not receive the result.",
        "Ihr Agent erhält das Ergebnis nicht.",
        "Votre agent ne recevra pas le résultat.",
        "Su agente no recibirá el resultado.",
        "エージェントは結果を受け取れません。";
    ACCOUNT_REPLACED:
        "The account was replaced",
        "Das Konto wurde ersetzt",
        "Le compte a été remplacé",
        "La cuenta se ha sustituido",
        "アカウントが置き換えられました";
    ACCOUNT_REPLACED_WHY:
        "Another account was connected after the agent had asked for this. Nothing was done.",
        "Nachdem der Agent darum gebeten hatte, wurde ein anderes Konto verbunden. Es wurde nichts ausgeführt.",
        "Un autre compte a été connecté après la demande de l’agent. Rien n’a été effectué.",
        "Se conectó otra cuenta después de que el agente lo solicitara. No se ha hecho nada.",
        "エージェントが依頼した後に、別のアカウントが接続されました。何も実行されていません。";
    OTHER_BROWSER:
        "Opened in another browser",
        "In einem anderen Browser geöffnet",
        "Ouvert dans un autre navigateur",
        "Abierto en otro navegador",
        "別のブラウザーで開かれています";
    OTHER_BROWSER_NEXT:
        "Nothing was decided. Decide in the browser in which you signed in last, or open the agent's link here again.",
        "Es wurde nichts entschieden. Entscheiden Sie in dem Browser, in dem Sie sich zuletzt angemeldet haben, oder öffnen Sie den Link des Agenten hier noch einmal.",
        "Rien n’a été décidé. Décidez dans le navigateur où vous vous êtes connecté en dernier, ou ouvrez de nouveau ici le lien de l’agent.",
        "No se ha decidido nada. Decida en el navegador en el que inició sesión por última vez, o abra aquí de nuevo el enlace del agente.",
        "まだ何も決定されていません。最後にログインしたブラウザーで決定するか、エージェントのリンクをここでもう一度開いてください。";
    LINK_ENDED:
        "This link does not work",
        "Dieser Link funktioniert nicht",
        "Ce lien ne fonctionne pas",
        "Este enlace no funciona",
        "このリンクは使用できません";
    LINK_ENDED_WHY:
        "It was already used or has expired, the agent no longer has access, or you signed in as a different user than the agent's.",
        "Er wurde bereits verwendet oder ist abgelaufen, der Agent hat keinen Zugriff mehr, oder Sie haben sich mit einem anderen Benutzerkonto angemeldet als dem, zu dem der Agent gehört.",
        "Il a déjà été utilisé ou a expiré, l’agent n’a plus accès, ou vous utilisez un autre compte utilisateur que celui de l’agent.",
        "Ya se ha utilizado o ha caducado, el agente ya no tiene acceso, o ha iniciado sesión con un usuario distinto del que usa el agente.",
        "すでに使用済みであるか、有効期限が切れています。または、エージェントのアクセス権がなくなったか、エージェントのユーザーとは別のユーザーでログインしています。";
    LINK_ENDED_NEXT:
        "If you have just asked your agent for something, ask again.",
        "Wenn Sie Ihren Agenten gerade um etwas gebeten haben, bitten Sie ihn noch einmal darum.",
        "Si vous venez de demander quelque chose à votre agent, demandez-le de nouveau.",
        "Si acaba de pedirle algo a su agente, pídaselo de nuevo.",
        "エージェントに何かを依頼したばかりの場合は、もう一度依頼してください。";
}
