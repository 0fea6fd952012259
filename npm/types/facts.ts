// The requests and responses of the service, from its Rust types. Type tests compare the package's declarations with them.
// Written by `WRITE_TYPE_FACTS=1 cargo test --features cli --test api typescript`; never edited by hand.

export const fields = {
  ActionInput: {
    all: ["path","query","header","cookie","body","arguments","select","maxBytes"],
    nullable: [],
    required: [],
  },
  ConnectionChanges: {
    all: ["tags"],
    nullable: [],
    required: [],
  },
  NameChange: {
    all: ["name"],
    nullable: ["name"],
    required: ["name"],
  },
  NewAgentGrant: {
    all: ["request","identity","identityType","platforms","access","actions","connections","confirm"],
    nullable: [],
    required: ["request","identity"],
  },
  NewAgentSignIn: {
    all: ["type","issuer","clientId","clientSecret","identityClaim","identityType","confirm","url"],
    nullable: ["clientSecret"],
    required: ["type"],
  },
  NewApiKey: {
    all: ["name","scopes","expiresAt"],
    nullable: ["name","expiresAt"],
    required: ["scopes"],
  },
  NewBranding: {
    all: ["name","logo","color","url"],
    nullable: ["name","logo","color","url"],
    required: [],
  },
  NewConnectAttempt: {
    all: ["platform","connection","authMethod","client","identity","identityType","label","name","tags","fields","fixedFields","lang","scopes","returnUrl","allowOtherAccount","link"],
    nullable: ["name"],
    required: [],
  },
  NewConnection: {
    all: ["platform","platformVersion","identity","identityType","name","label","tags","state","active"],
    nullable: ["name"],
    required: ["platform","identity","identityType"],
  },
  NewConsoleSignIn: {
    all: ["type","issuer","clientId","clientSecret","scopes","teamDomain","audience","claim","roles"],
    nullable: ["clientSecret"],
    required: ["type","claim","roles"],
  },
  NewCredentials: {
    all: ["type","authMethod","accessToken","refreshToken","expiresAt","scopes","apiKey","username","password","token","accessKeyId","secretAccessKey","sessionToken","region","fields"],
    nullable: ["expiresAt"],
    required: ["type"],
  },
  NewImport: {
    all: ["connections","cutOver"],
    nullable: [],
    required: ["connections"],
  },
  NewOauthClient: {
    all: ["authMethod","clientId","clientSecret","scopes","authorizationParameters","variables","startUrl","pkce"],
    nullable: ["clientSecret"],
    required: ["clientId"],
  },
  NewSession: {
    all: ["identity","identityType","scopes","platforms","access","actions","connections","confirm","client","origins","fields","fixedFields","lang","ttlSeconds"],
    nullable: [],
    required: ["identity"],
  },
  NewWebhook: {
    all: ["url","description","types","active"],
    nullable: ["description"],
    required: ["url"],
  },
  Replay: {
    all: ["from","to"],
    nullable: ["to"],
    required: ["from"],
  },
  StateChange: {
    all: ["state","active","reason"],
    nullable: [],
    required: ["state"],
  },
  WebhookChanges: {
    all: ["url","description","types","active"],
    nullable: ["description"],
    required: [],
  },
} as const;

export const rows = {
  Action: [
    {"key":"deleteUser","method":"DELETE","modelName":"Model","platform":"alpha","title":"DELETE a user"},
    {"key":"getUser","method":"GET","modelName":"Model","platform":"alpha","title":"GET a user"},
    {"key":"patchUser","method":"PATCH","modelName":"Model","platform":"alpha","title":"PATCH a user"},
    {"key":"postUser","method":"POST","modelName":"Model","platform":"alpha","title":"POST a user"},
    {"key":"putUser","method":"PUT","modelName":"Model","platform":"alpha","title":"PUT a user"},
  ],
  Connection: [
    {"active":true,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"test","id":"…","identity":"user-0","identityType":"user","key":"test::alpha::default::user-0","name":"Ann","platform":"alpha","platformVersion":"v1","state":"operational","tags":["eu","billing"],"type":"api","version":"1"},
    {"active":false,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"test","id":"…","identity":"user-1","identityType":"team","key":"test::alpha::default::user-1","name":null,"platform":"alpha","platformVersion":"v1","state":"degraded","tags":["eu","billing"],"type":"api","version":"1"},
    {"active":true,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"test","id":"…","identity":"user-2","identityType":"organization","key":"test::alpha::default::user-2","name":"Ann","platform":"alpha","platformVersion":"v1","state":"failed","tags":["eu","billing"],"type":"api","version":"1"},
    {"active":false,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"test","id":"…","identity":"user-3","identityType":"project","key":"test::alpha::default::user-3","name":null,"platform":"alpha","platformVersion":"v1","state":"unknown","tags":["eu","billing"],"type":"api","version":"1"},
    {"active":true,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"live","id":"…","identity":"user-0","identityType":"user","key":"live::alpha::default::user-0","name":"Ann","platform":"alpha","platformVersion":"v1","state":"operational","tags":["eu","billing"],"type":"api","version":"1"},
    {"active":false,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"live","id":"…","identity":"user-1","identityType":"team","key":"live::alpha::default::user-1","name":null,"platform":"alpha","platformVersion":"v1","state":"degraded","tags":["eu","billing"],"type":"api","version":"1"},
    {"active":true,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"live","id":"…","identity":"user-2","identityType":"organization","key":"live::alpha::default::user-2","name":"Ann","platform":"alpha","platformVersion":"v1","state":"failed","tags":["eu","billing"],"type":"api","version":"1"},
    {"active":false,"createdAt":"2027-01-15T08:00:00.000Z","description":"What Alpha 0 does.","environment":"live","id":"…","identity":"user-3","identityType":"project","key":"live::alpha::default::user-3","name":null,"platform":"alpha","platformVersion":"v1","state":"unknown","tags":["eu","billing"],"type":"api","version":"1"},
  ],
  Connector: [
    {"active":true,"category":"Developer Tools","description":"What Alpha 0 does.","id":3504355691,"image":"https://img.example/logo.png","key":"api::alpha::v1","name":"Alpha 0","oauth":true,"platform":"alpha","platformVersion":"v1","status":"generally_available","tags":["Cloud"],"tools":5,"version":"1.0.0"},
    {"active":false,"category":"Developer Tools","description":"What Alpha 1 does.","id":4030370800,"image":"https://img.example/logo.png","key":"api::alpha-1::v1","name":"Alpha 1","oauth":false,"platform":"alpha-1","platformVersion":"v1","status":"beta","tags":["Cloud"],"tools":5,"version":"1.0.0"},
    {"active":true,"category":"Developer Tools","description":"What Alpha 2 does.","id":1764999766,"image":"https://img.example/logo.png","key":"api::alpha-2::v1","name":"Alpha 2","oauth":true,"platform":"alpha-2","platformVersion":"v1","status":"alpha","tags":["Cloud"],"tools":5,"version":"1.0.0"},
    {"active":false,"category":"Developer Tools","description":"What Alpha 3 does.","id":506786500,"image":"https://img.example/logo.png","key":"api::alpha-3::v1","name":"Alpha 3","oauth":false,"platform":"alpha-3","platformVersion":"v1","status":"not_available","tags":["Cloud"],"tools":5,"version":"1.0.0"},
  ],
} as const;

export const documents = {
  ActionDetail: [
    {"auth":[{"method":"oauth2","scopes":["read"]}],"deprecated":false,"description":"","documentationUrl":"https://alpha.example/docs","input":{"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,"properties":{"body":{},"path":{"additionalProperties":false,"properties":{"id":{}},"required":["id"],"type":"object"},"query":{"additionalProperties":false,"properties":{"filter":{}},"type":"object"}},"required":["path","body"],"type":"object"},"key":"postUser","method":"POST","modelName":"Model","parameters":[{"contentType":null,"explode":false,"in":"path","name":"id","required":true,"schema":{},"style":"simple"},{"allowReserved":true,"contentType":"application/json","explode":true,"in":"query","name":"filter","required":false,"schema":{},"style":"form"}],"path":"/users/{id}","platform":"alpha","requestBody":{"contentTypes":["application/x-www-form-urlencoded"],"encoding":{"meta":{"explode":true,"style":"deepObject"}},"required":true,"schema":{}},"responseTypes":[],"responses":[{"contentType":"application/json","description":"Created","schema":{},"status":"200"},{"contentType":null,"description":"","schema":null,"status":"204"}],"server":"https://alpha.example","title":"POST a user"},
  ],
  ConnectionSummary: [
    {"active":{"false":2,"true":2},"identityType":{"organization":1,"project":1,"team":1,"user":1},"otherPlatforms":0,"platforms":[{"platform":"alpha","total":4}],"state":{"degraded":1,"failed":1,"operational":1,"unknown":1},"total":4},
  ],
  ConnectorDetail: [
    {"account":{"body":null,"id":"…","method":"GET","name":"/name","path":"/me"},"active":true,"authMethods":[{"accessTokenRefresh":{"method":"POST","parameters":{"access_token":"{accessToken}"},"url":"https://alpha.example"},"authorizationParameters":{"prompt":"consent"},"authorizationUrl":"https://alpha.example","callbackParameters":[],"clientIdParameter":"client_key","codeParameter":"auth_code","expiresUnit":"ms","fieldSources":[{"at":"/shop","field":"shop","from":"token","template":"{shop}"}],"fields":[],"grant":"authorization_code","headers":{},"id":"…","issuer":null,"longLivedToken":{"method":"GET","parameters":{"access_token":"{accessToken}"},"url":"https://alpha.example"},"lookupUrl":null,"pkce":"S256","query":{},"redirectUri":null,"refreshUrl":null,"revocationBody":"form","revocationToken":"refresh_token","revocationUrl":null,"scopeSeparator":" ","scopes":[{"description":"","name":"read"}],"tokenAuth":"none","tokenBody":"form","tokenFallback":null,"tokenHeaders":{},"tokenMembers":[],"tokenParameters":{},"tokenPointer":null,"tokenUrl":"https://alpha.example","type":"oauth2"},{"fields":[{"default":null,"description":null,"enum":null,"label":"API key","name":"apiKey","pattern":null,"required":false,"secret":false}],"headers":{},"id":"…","in":"header","name":"x-key","prefix":"","query":{},"type":"api_key"},{"fields":[{"default":null,"description":null,"enum":null,"label":"API key","name":"apiKey","pattern":null,"required":false,"secret":false}],"headers":{},"id":"…","password":"","passwordLabel":"Password","query":{},"type":"basic","username":"{apiKey}","usernameLabel":"User"},{"fields":[{"default":null,"description":null,"enum":null,"label":"API key","name":"apiKey","pattern":null,"required":false,"secret":false}],"headers":{},"id":"…","prefix":"Bearer","query":{},"type":"bearer"},{"fields":[{"default":null,"description":null,"enum":null,"label":"API key","name":"apiKey","pattern":null,"required":false,"secret":false}],"headers":{},"id":"…","query":{},"regions":["eu-west-1"],"service":"s3","type":"aws_sigv4"}],"category":"Developer Tools","description":"What Alpha 0 does.","documentationUrl":"https://alpha.example","headers":{"Version":"1"},"id":3504355691,"image":"https://img.example/logo.png","key":"api::alpha::v1","license":{"name":"MIT","url":"https://alpha.example"},"name":"Alpha 0","oauth":true,"pagination":[{"items":"/data","more":"/more","next":"/next","parameter":"cursor"}],"platform":"alpha","platformVersion":"v1","servers":[{"description":null,"url":"https://alpha.example"}],"status":"generally_available","tags":["Cloud"],"tools":5,"verify":{"body":null,"method":"GET","path":"/me","rejected":[401],"rejectedWhen":{"pointer":"/ok","value":false}},"version":"1.0.0"},
  ],
  Page: [
    {"page":1,"pages":1,"rows":[],"total":4},
  ],
  Session: [
    {"access":"write","actions":null,"client":null,"confirm":null,"connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":null,"lang":null,"origins":null,"platforms":null,"scopes":["catalog:read","connections:read"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"user","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"team","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"organization","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"project","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":null,"lang":null,"origins":null,"platforms":null,"scopes":["catalog:read","connections:read"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"user","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"team","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"organization","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
    {"access":"write","actions":null,"client":null,"confirm":null,"connectUrl":"…","connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"project","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"],"token":"…"},
  ],
  Whoami: [
    {"account":"acme","environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","scopes":["catalog:read","connections:read","connections:write","sessions:create","connections:connect","credentials:read","credentials:write","clients:read","clients:write","connections:call","events:read","webhooks:read","webhooks:write","keys:read","keys:write","agents:read","agents:write","audit:read","usage:read","console:read","console:write"]},
    {"account":"acme","environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","scopes":["catalog:read","connections:read","connections:write","sessions:create","connections:connect","credentials:read","credentials:write","clients:read","clients:write","connections:call","events:read","webhooks:read","webhooks:write","keys:read","keys:write","agents:read","agents:write","audit:read","usage:read","console:read","console:write"]},
    {"account":"acme","environment":"test","expiresAt":null,"scopes":["catalog:read","connections:read","connections:write","sessions:create","connections:connect","credentials:read","credentials:write","clients:read","clients:write","connections:call","events:read","webhooks:read","webhooks:write","keys:read","keys:write","agents:read","agents:write","audit:read","usage:read","console:read","console:write"]},
  ],
  WhoamiOfToken: [
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":null,"lang":null,"origins":null,"platforms":null,"scopes":["catalog:read","connections:read"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"user","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"team","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"organization","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"test","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"project","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":null,"lang":null,"origins":null,"platforms":null,"scopes":["catalog:read","connections:read"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"user","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"team","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"organization","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
    {"access":"write","account":"acme","actions":null,"client":null,"confirm":null,"connections":null,"environment":"live","expiresAt":"2027-01-15T08:00:01.000Z","fields":null,"fixedFields":null,"identity":"ann","identityType":"project","lang":null,"origins":["https://app.example"],"platforms":["alpha"],"scopes":["catalog:read","connections:read","connections:write","connections:connect","connections:call"]},
  ],
} as const;

export const problems = [
  {
    code: "unknown_parameter",
    detail: "…",
    errors: [{"detail":"…","parameter":"lmit","suggestion":"limit"},{"detail":"…","parameter":"limit"},{"detail":"…","parameter":"page"}],
    requestId: "…",
    status: 400,
    title: "Unknown query parameter",
    type: "https://vault.example/problems/unknown_parameter",
  },
  {
    code: "invalid_body",
    detail: "…",
    errors: [{"detail":"…","pointer":"/platfrm","suggestion":"platform"},{"detail":"…","pointer":"/platform"},{"detail":"…","pointer":"/identity"},{"detail":"…","pointer":"/identityType"}],
    requestId: "…",
    status: 400,
    title: "Invalid body",
    type: "https://vault.example/problems/invalid_body",
  },
  {
    code: "connection_exists",
    connectionId: "…",
    detail: "…",
    requestId: "…",
    status: 409,
    title: "Connection exists",
    type: "https://vault.example/problems/connection_exists",
  },
  {
    code: "platform_not_found",
    detail: "…",
    requestId: "…",
    status: 404,
    suggestions: ["alpha","alpha-1","alpha-2"],
    title: "Platform not found",
    type: "https://vault.example/problems/platform_not_found",
  },
  {
    code: "action_not_found",
    detail: "…",
    requestId: "…",
    status: 404,
    suggestions: ["postUser"],
    title: "Action not found",
    type: "https://vault.example/problems/action_not_found",
  },
  {
    code: "connection_not_found",
    detail: "…",
    requestId: "…",
    status: 404,
    title: "Connection not found",
    type: "https://vault.example/problems/connection_not_found",
  },
  {
    code: "precondition_failed",
    detail: "…",
    requestId: "…",
    status: 412,
    title: "Precondition failed",
    type: "https://vault.example/problems/precondition_failed",
  },
  {
    code: "insufficient_scope",
    detail: "…",
    requestId: "…",
    status: 403,
    title: "Insufficient scope",
    type: "https://vault.example/problems/insufficient_scope",
  },
  {
    code: "agent_sign_in_not_found",
    detail: "…",
    redirectUri: "https://vault.example/mcp/JLUpXfL7EfZP78szZEhAnPMU3jY2fDhf6Te3k01HrUQ/callback",
    requestId: "…",
    status: 404,
    title: "Sign-in for agents not found",
    type: "https://vault.example/problems/agent_sign_in_not_found",
  },
] as const;
