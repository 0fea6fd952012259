//! The texts of pages on which users sign agents in.

use super::{Text, texts};

texts! {
    // The page at an MCP endpoint's URL.
    ADDRESS:
        "This address is for AI agents",
        "Diese Adresse ist für KI-Agenten",
        "Cette adresse est destinée aux agents IA",
        "Esta dirección es para agentes de IA",
        "AIエージェント用のアドレスです";
    ADDRESS_WHAT:
        "Add it as an MCP server to your agent, such as Claude, Cursor or VS Code. The agent then opens a page on which you sign in and decide what it may do.",
        "Fügen Sie sie Ihrem Agenten, etwa Claude, Cursor oder VS Code, als MCP-Server hinzu. Der Agent öffnet dann eine Seite, auf der Sie sich anmelden und entscheiden, was er darf.",
        "Ajoutez-la comme serveur MCP à votre agent, par exemple Claude, Cursor ou VS Code. L’agent ouvre alors une page sur laquelle vous vous connectez et décidez de ce qu’il peut faire.",
        "Añádala como servidor MCP a su agente, por ejemplo Claude, Cursor o VS Code. El agente abrirá una página en la que usted inicia sesión y decide lo que puede hacer.",
        "Claude、Cursor、VS CodeなどのエージェントにMCPサーバーとして追加してください。エージェントがページを開くので、ログインして、許可する操作を決めてください。";

    AN_UNNAMED_PROGRAM:
        "an unnamed program",
        "ein unbenanntes Programm",
        "un programme sans nom",
        "un programa sin nombre",
        "名前のないプログラム";

    // The page on which a user decides on an agent's access.
    CONSENT_TITLE:
        "Let “{name}” use your accounts?",
        "„{name}“ Zugriff auf Ihre Konten erlauben?",
        "Autoriser «\u{a0}{name}\u{a0}» à utiliser vos comptes\u{a0}?",
        "¿Permitir que «{name}» use sus cuentas?",
        "「{name}」にアカウントの利用を許可しますか？";
    CONSENT_WHAT:
        "A program that calls itself “{name}” asks to use the accounts that “{identity}” has connected to {app}.",
        "Ein Programm, das sich „{name}“ nennt, möchte die Konten verwenden, die „{identity}“ mit {appDative} verbunden hat.",
        "Un programme qui se présente comme «\u{a0}{name}\u{a0}» demande à utiliser les comptes que «\u{a0}{identity}\u{a0}» a connectés à {app}.",
        "Un programa que se presenta como «{name}» solicita usar las cuentas que «{identity}» ha conectado a {app}.",
        "「{name}」と名乗るプログラムが、「{identity}」が{app}と連携したアカウントの利用を求めています。";
    CONSENT_WARNING:
        "Warning: any program on this computer can receive this access. Continue only if you have just started to connect an agent yourself.",
        "Achtung: Jedes Programm auf diesem Computer kann diesen Zugriff erhalten. Fahren Sie nur fort, wenn Sie gerade selbst begonnen haben, einen Agenten zu verbinden.",
        "Attention\u{a0}: tout programme de cet ordinateur peut recevoir cet accès. Ne continuez que si vous venez vous-même de commencer à connecter un agent.",
        "Advertencia: cualquier programa de este equipo puede recibir este acceso. Continúe solo si es usted quien acaba de empezar a conectar un agente.",
        "警告：このコンピューター上のどのプログラムも、このアクセス権を受け取る可能性があります。たった今ご自身でエージェントの接続を始めた場合にのみ続けてください。";
    CONSENT_DECLINE:
        "If someone sent you this link, or you did not start this yourself, or don't know the program, decline.",
        "Wenn Ihnen jemand diesen Link gesendet hat, Sie dies nicht selbst begonnen haben oder das Programm nicht kennen, lehnen Sie ab.",
        "Si quelqu’un vous a envoyé ce lien, si vous n’êtes pas à l’origine de cette demande ou si vous ne connaissez pas ce programme, refusez.",
        "Si alguien le ha enviado este enlace, si no ha sido usted quien ha iniciado esta operación o si no conoce el programa, rechace la solicitud.",
        "このリンクがほかの人から送られてきた場合、ご自身で始めた操作ではない場合、またはプログラムに心当たりがない場合は、拒否してください。";
    PROGRAM:
        "Program",
        "Programm",
        "Programme",
        "Programa",
        "プログラム";
    NAME_NOT_VERIFIED:
        "“{name}” (this name is not verified)",
        "„{name}“ (dieser Name ist nicht bestätigt)",
        "«\u{a0}{name}\u{a0}» (ce nom n’est pas vérifié)",
        "«{name}» (este nombre no está verificado)",
        "「{name}」（この名前は確認されていません）";
    PUBLISHED_BY:
        "Published by",
        "Herausgeber",
        "Éditeur",
        "Publicado por",
        "発行元";
    SENT_TO:
        "Access is sent to",
        "Der Zugriff geht an",
        "L’accès est envoyé à",
        "El acceso se envía a",
        "アクセス権の送信先";
    THIS_COMPUTER:
        "a program on this computer (localhost)",
        "ein Programm auf diesem Computer (localhost)",
        "un programme de cet ordinateur (localhost)",
        "un programa de este equipo (localhost)",
        "このコンピューター上のプログラム（localhost）";
    SCHEME:
        "the program on this computer that opens {scheme}: links",
        "das Programm auf diesem Computer, das Links mit {scheme}: öffnet",
        "le programme de cet ordinateur qui ouvre les liens {scheme}:",
        "el programa de este equipo que abre los enlaces {scheme}:",
        "このコンピューターで{scheme}:のリンクを開くプログラム";
    SIGNED_IN_AS:
        "You are signed in as",
        "Angemeldet als",
        "Vous êtes connecté en tant que",
        "Ha iniciado sesión como",
        "ログイン中のユーザー";
    ONLY_ACTIONS:
        "It can run only",
        "Nur diese Aktionen",
        "Il peut exécuter uniquement",
        "Solo puede ejecutar",
        "実行できる操作（これらのみ）";
    ONLY_CONNECTIONS:
        "It can use only",
        "Zugriff nur auf",
        "Il peut utiliser uniquement",
        "Solo puede usar",
        "利用できる連携（これらのみ）";
    ONE_CONNECTION:
        "one connection: {ids}",
        "eine Verbindung: {ids}",
        "une connexion\u{a0}: {ids}",
        "una conexión: {ids}",
        "1件の連携：{ids}";
    SOME_CONNECTIONS:
        "some connections: {ids}",
        "einige Verbindungen: {ids}",
        "certaines connexions\u{a0}: {ids}",
        "algunas conexiones: {ids}",
        "一部の連携：{ids}";
    ASKED_BEFORE:
        "You are asked before",
        "Sie werden gefragt vor",
        "Votre accord est demandé avant",
        "Se le pregunta antes de",
        "確認が必要な操作";
    EACH_CHANGE:
        "each change",
        "jeder Änderung",
        "chaque modification",
        "cada cambio",
        "すべての変更";
    DELETIONS:
        "anything is deleted",
        "jeder Löschung",
        "toute suppression",
        "cualquier eliminación",
        "すべての削除";
    WHAT_IT_MAY_DO:
        "What it may do",
        "Was es tun darf",
        "Ce qu’il peut faire",
        "Qué puede hacer",
        "許可する操作";
    MAY_WRITE:
        "Read and change data at the platforms, and connect accounts",
        "Daten auf den Plattformen lesen und ändern sowie Konten verbinden",
        "Lire et modifier des données sur les plateformes, et connecter des comptes",
        "Leer y modificar datos de las plataformas y conectar cuentas",
        "プラットフォームのデータの読み取りと変更、アカウントの連携";
    MAY_READ:
        "Only read data at the platforms",
        "Daten auf den Plattformen nur lesen",
        "Uniquement lire des données sur les plateformes",
        "Solo leer datos de las plataformas",
        "プラットフォームのデータの読み取りのみ";
    ASK_ME:
        "Ask me before each change",
        "Vor jeder Änderung nachfragen",
        "Me demander avant chaque modification",
        "Preguntarme antes de cada cambio",
        "変更のたびに確認する";
    WHICH_ACCOUNTS:
        "Which accounts it may use",
        "Welche Konten es verwenden darf",
        "Les comptes qu’il peut utiliser",
        "Qué cuentas puede usar",
        "利用を許可するアカウント";
    ALL_OF_THESE:
        "All of these platforms",
        "Alle diese Plattformen",
        "Toutes ces plateformes",
        "Todas estas plataformas",
        "これらのプラットフォームすべて";
    ALL_LATER:
        "All that you connect later (there are none yet)",
        "Alle, die Sie später verbinden (bisher gibt es keine)",
        "Tous ceux que vous connecterez plus tard (il n’y en a pas encore)",
        "Todas las que conecte más adelante (aún no hay ninguna)",
        "今後連携するすべてのアカウント（現在はありません）";
    ALL_AND_LATER:
        "All that you have connected, and those that you connect later",
        "Alle, die Sie verbunden haben oder später verbinden",
        "Tous ceux que vous avez connectés, et ceux que vous connecterez plus tard",
        "Todas las que ha conectado y las que conecte más adelante",
        "連携済みのアカウントと、今後連携するアカウントすべて";
    ONLY_CHOSEN:
        "Only those chosen here:",
        "Nur die hier ausgewählten:",
        "Uniquement ceux choisis ici\u{a0}:",
        "Solo las que elija aquí:",
        "ここで選択したもののみ：";
    EARLIER:
        "Agents with access to your accounts",
        "Agenten mit Zugriff auf Ihre Konten",
        "Agents ayant accès à vos comptes",
        "Agentes con acceso a sus cuentas",
        "アカウントにアクセスできるエージェント";
    NO_AGENT:
        "No agent has access to your accounts.",
        "Kein Agent hat Zugriff auf Ihre Konten.",
        "Aucun agent n’a accès à vos comptes.",
        "Ningún agente tiene acceso a sus cuentas.",
        "アカウントにアクセスできるエージェントはありません。";
    END_ACCESS:
        "End access",
        "Zugriff beenden",
        "Mettre fin à l’accès",
        "Finalizar el acceso",
        "アクセスを終了";
    ENDED:
        "The access that you selected has ended.",
        "Der ausgewählte Zugriff wurde beendet.",
        "L’accès sélectionné a pris fin.",
        "El acceso seleccionado ha finalizado.",
        "選択したアクセスを終了しました。";
    ENDS_AT:
        "To end the access later",
        "Zugriff später beenden",
        "Pour y mettre fin plus tard",
        "Para finalizar el acceso más tarde",
        "後でアクセスを終了するには";
    EARLIER_NEXT:
        "Select those whose access should end now, whatever you decide about this one.",
        "Wählen Sie diejenigen aus, deren Zugriff jetzt enden soll, unabhängig von Ihrer Entscheidung über diesen Agenten.",
        "Sélectionnez ceux dont l’accès doit prendre fin maintenant, quelle que soit votre décision pour celui-ci.",
        "Seleccione aquellos cuyo acceso deba finalizar ahora, sea cual sea su decisión sobre este.",
        "今回の判断にかかわらず、今すぐアクセスを終了させるエージェントを選択してください。";
    END_READING:
        "End “{name}”: only reads, since {day}",
        "Zugriff von „{name}“ beenden: nur lesen, seit {day}",
        "Mettre fin à l’accès de «\u{a0}{name}\u{a0}»\u{a0}: lecture seule, depuis le {day}",
        "Finalizar el acceso de «{name}»: solo lectura, desde el {day}",
        "「{name}」のアクセスを終了：読み取りのみ、{day}から";
    END_WRITING:
        "End “{name}”: reads and changes, since {day}",
        "Zugriff von „{name}“ beenden: lesen und ändern, seit {day}",
        "Mettre fin à l’accès de «\u{a0}{name}\u{a0}»\u{a0}: lecture et modification, depuis le {day}",
        "Finalizar el acceso de «{name}»: lectura y modificación, desde el {day}",
        "「{name}」のアクセスを終了：読み取りと変更、{day}から";
    ALLOW:
        "Allow",
        "Erlauben",
        "Autoriser",
        "Permitir",
        "許可する";
    DECLINE:
        "Decline",
        "Ablehnen",
        "Refuser",
        "Rechazar",
        "拒否する";
    CHOOSE_PLATFORM:
        "Choose at least one platform",
        "Wählen Sie mindestens eine Plattform aus",
        "Choisissez au moins une plateforme",
        "Elija al menos una plataforma",
        "プラットフォームを1つ以上選択してください";
    CHOOSE_ONE:
        "Go back and choose which accounts the agent may use, or decline.",
        "Gehen Sie zurück und wählen Sie aus, welche Konten der Agent verwenden darf, oder lehnen Sie ab.",
        "Revenez en arrière et choisissez les comptes que l’agent peut utiliser, ou refusez.",
        "Vuelva atrás y elija qué cuentas puede usar el agente, o rechace la solicitud.",
        "前のページに戻り、エージェントが利用できるアカウントを選択するか、拒否してください。";
    CHOOSE_FEWER:
        "Go back and choose fewer platforms, or all of them.",
        "Gehen Sie zurück und wählen Sie weniger Plattformen aus, oder alle.",
        "Revenez en arrière et choisissez moins de plateformes, ou toutes.",
        "Vuelva atrás y elija menos plataformas, o todas.",
        "前のページに戻り、選択するプラットフォームを減らすか、すべてを選択してください。";

    // A decision that was not submitted by the service's own page.
    DECIDE_ON_THE_PAGE:
        "Decide on the page itself",
        "Entscheiden Sie auf der Seite selbst",
        "Prenez votre décision sur la page elle-même",
        "Decida en la propia página",
        "ページ上で直接判断してください";

    // Sign-ins that can't continue.
    SIGN_IN_EXPIRED:
        "This sign-in is no longer valid",
        "Diese Anmeldung ist nicht mehr gültig",
        "Cette demande de connexion n’est plus valable",
        "Este inicio de sesión ya no es válido",
        "このログインは無効になりました";
    SIGN_IN_EXPIRED_WHY:
        "It was already completed, has expired, or was started in another browser, or the app's sign-in has changed. Your agent got no access.",
        "Sie wurde bereits abgeschlossen, ist abgelaufen oder wurde in einem anderen Browser begonnen, oder die Anmeldung bei der App wurde geändert. Ihr Agent hat keinen Zugriff erhalten.",
        "Elle est déjà terminée, a expiré ou a été commencée dans un autre navigateur, ou la connexion à l’application a changé. Votre agent n’a pas obtenu d’accès.",
        "Ya se ha completado, ha caducado o se ha iniciado en otro navegador, o ha cambiado el inicio de sesión de la aplicación. Su agente no ha obtenido acceso.",
        "すでに完了しているか、有効期限が切れているか、別のブラウザーで始められたものか、アプリのログインが変更されています。エージェントにアクセス権は与えられていません。";
    SIGN_IN_EXPIRED_NEXT:
        "Go back to your agent and connect it again.",
        "Kehren Sie zu Ihrem Agenten zurück und verbinden Sie ihn noch einmal.",
        "Revenez à votre agent et connectez-le de nouveau.",
        "Vuelva a su agente y conéctelo de nuevo.",
        "エージェントに戻り、もう一度接続してください。";
    SIGN_IN_UNAVAILABLE:
        "You can't sign in at the moment",
        "Sie können sich derzeit nicht anmelden",
        "Vous ne pouvez pas vous connecter pour le moment",
        "Ahora mismo no puede iniciar sesión",
        "現在ログインできません";
    SIGN_IN_UNAVAILABLE_WHY:
        "The app's sign-in does not work at the moment. Your agent got no access.",
        "Die Anmeldung bei der App funktioniert derzeit nicht. Ihr Agent hat keinen Zugriff erhalten.",
        "La connexion à l’application ne fonctionne pas pour le moment. Votre agent n’a pas obtenu d’accès.",
        "El inicio de sesión de la aplicación no funciona por ahora. Su agente no ha obtenido acceso.",
        "現在、アプリのログインが機能していません。エージェントにアクセス権は与えられていません。";
    SIGN_IN_UNAVAILABLE_NEXT:
        "Try again later. If that does not help, contact the people who run the app.",
        "Versuchen Sie es später noch einmal. Wenn das nicht hilft, wenden Sie sich an die Betreiber der App.",
        "Réessayez plus tard. Si cela ne suffit pas, contactez les responsables de l’application.",
        "Inténtelo más tarde. Si no funciona, póngase en contacto con los responsables de la aplicación.",
        "しばらくしてからもう一度お試しください。解決しない場合は、アプリの運営者にお問い合わせください。";

    // Invalid requests of an agent. The page describes the error in English, for the agent's
    // developers.
    CAN_NOT_CONNECT:
        "This agent can't be connected",
        "Dieser Agent kann nicht verbunden werden",
        "Cet agent ne peut pas être connecté",
        "Este agente no se puede conectar",
        "このエージェントは接続できません";
    REQUEST_INCORRECT:
        "The agent's request is not correct. It got no access.",
        "Die Anfrage des Agenten ist fehlerhaft. Er hat keinen Zugriff erhalten.",
        "La demande de l’agent est incorrecte. Il n’a pas obtenu d’accès.",
        "La solicitud del agente no es correcta. No ha obtenido acceso.",
        "エージェントのリクエストに誤りがあります。アクセス権は与えられていません。";
    CONTACT_DEVELOPERS:
        "Contact the developers of the agent. It got no access.",
        "Wenden Sie sich an die Entwickler des Agenten. Er hat keinen Zugriff erhalten.",
        "Contactez les développeurs de l’agent. Il n’a pas obtenu d’accès.",
        "Póngase en contacto con los desarrolladores del agente. No ha obtenido acceso.",
        "エージェントの開発者にお問い合わせください。アクセス権は与えられていません。";
    CONTINUE_ONLY:
        "Continue to {place} only if you have just started to connect an agent there.",
        "Fahren Sie nur fort, wenn Sie gerade selbst begonnen haben, dort einen Agenten zu verbinden: {place}.",
        "Ne continuez vers {place} que si vous venez d’y commencer la connexion d’un agent.",
        "Continúe en {place} solo si acaba de empezar a conectar allí un agente.",
        "たった今ご自身が{place}でエージェントの接続を始めた場合にのみ、続けてください。";
    CONTINUE_TO:
        "Continue to {place}",
        "Weiter: {place}",
        "Continuer vers {place}",
        "Continuar en {place}",
        "{place}に進む";
    OPENING_PROGRAM:
        "the program that opens {scheme}: links",
        "Programm, das Links mit {scheme}: öffnet",
        "le programme qui ouvre les liens {scheme}:",
        "el programa que abre los enlaces {scheme}:",
        "{scheme}:のリンクを開くプログラム";
    NOT_GRANTED_WHY:
        "Another site sent this request, so nothing was granted. Go back to your agent and connect it again.",
        "Diese Anfrage kam von einer anderen Website, daher wurde kein Zugriff gewährt. Kehren Sie zu Ihrem Agenten zurück und verbinden Sie ihn noch einmal.",
        "Cette demande provient d’un autre site, aucun accès n’a donc été accordé. Revenez à votre agent et connectez-le de nouveau.",
        "Esta solicitud procede de otro sitio, por lo que no se ha concedido ningún acceso. Vuelva a su agente y conéctelo de nuevo.",
        "別のサイトから送られたリクエストのため、アクセス権は与えられませんでした。エージェントに戻り、もう一度接続してください。";
}
