/**
 * Descriptions of rbac.authorization.k8s.io/v1, authentication.k8s.io/v1, authorization.k8s.io/v1 and
 * certificates.k8s.io/v1.
 */
const usages = [
  'any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only',
  'digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement',
  'key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping',
].join('|')

export const rbacV1 = `
AggregationRule: Builds the rules of a ClusterRole from other ClusterRoles.
  clusterRoleSelectors: Selectors of ClusterRoles. The rules of all that match one of them are joined.
ClusterRole: A set of permissions, for the whole cluster or for use in several namespaces.
  aggregationRule: Takes the rules from other ClusterRoles. A controller then writes rules, and changes of yours are lost.
  rules: The permissions.
ClusterRoleBinding: Grants a ClusterRole in all namespaces and for the whole cluster.
  roleRef: The ClusterRole. It cannot be changed.
  subjects: Who gets the permissions.
PolicyRule: What is allowed. Permissions only add up; nothing can be forbidden.
  apiGroups: The API groups of the resources. An empty text is the core group, * all groups.
  nonResourceURLs: Paths that are not resources, such as /healthz; * at the end matches the rest. Only in ClusterRoles; a rule has either these or resources.
  resourceNames: The names of the objects. Empty means all names.
  resources: The resources, such as pods or pods/log. * means all.
  verbs: The verbs, such as get, list, watch, create, update, patch and delete. * means all.
Role: A set of permissions in one namespace.
  rules: The permissions.
RoleBinding: Grants a Role of its namespace, or a ClusterRole, within its namespace.
  roleRef: The Role or ClusterRole. It cannot be changed.
  subjects: Who gets the permissions.
RoleRef: Names a role.
  apiGroup: The API group of the role: rbac.authorization.k8s.io.
  kind: Role or ClusterRole.
  name: The name of the role.
Subject: A user, a group or a service account.
  apiGroup: The API group of the subject: empty for ServiceAccount, rbac.authorization.k8s.io for User and Group.
  kind: User, Group or ServiceAccount.
  name: The name of the subject.
  namespace: The namespace of the ServiceAccount. Not allowed for User and Group.
`

export const authenticationV1 = `
BoundObjectReference: The object that a token is bound to. The token ends with it.
  apiVersion: The group and version of the object.
  kind: Pod, Secret or Node.
  name: The name of the object.
  uid: The uid of the object.
SelfSubjectReview: Asks the server who you are. It is answered and not stored.
  status: The answer: who you are.
SelfSubjectReviewStatus: The answer of the server.
  userInfo: What the server knows about you.
TokenRequest: Asks for a token of a service account. It is answered and not stored.
  spec: The token to issue.
  status: The issued token, set by the server.
TokenRequestSpec: Which token is wanted.
  audiences: Who the token is for. A receiver must find itself here or refuse the token.
  boundObjectRef: The object that the token is bound to.
  expirationSeconds: The lifetime of the token. The server may choose another. The default is 3600.
TokenRequestStatus: The token.
  expirationTimestamp: When the token ends.
  token: The token itself.
TokenReview: Asks whether a token is valid and whose it is. It is answered and not stored.
  spec: The token to check.
  status: The answer, set by the server.
TokenReviewSpec: The token to check.
  audiences: Who the token should be for. One that matches is enough. The default is the API server.
  token: The token itself.
TokenReviewStatus: The answer of the server.
  audiences: Those of the requested audiences that the token is for.
  authenticated: Whether the token is valid.
  error: Why the token could not be checked.
  user: Whose token it is.
UserInfo: What is known about a user.
  extra: Further facts from the authenticator, by key.
  groups: The groups of the user.
  uid: An id of the user over time, which a later user of the same name does not have.
  username: The name of the user.
`

export const authorizationV1 = `
FieldSelectorAttributes: Limits a request to objects with certain fields. Only one of the fields is set.
  rawSelector: The selector as in the query parameter. Webhooks should ignore it.
  requirements: The conditions of the selector. All must hold.
LabelSelectorAttributes: Limits a request to objects with certain labels. Only one of the fields is set.
  rawSelector: The selector as in the query parameter. Webhooks should ignore it.
  requirements: The conditions of the selector. All must hold.
LocalSubjectAccessReview: Asks whether a user may do something in one namespace. It is answered and not stored.
  spec: The user and the request to check. Its namespace must be that of the review.
  status: The answer, set by the server.
NonResourceAttributes: A request to a path that is not a resource.
  path: The path, such as /healthz.
  verb: The HTTP method in lower case.
NonResourceRule: Paths that a user may use.
  nonResourceURLs: The paths; * at the end matches the rest.
  verbs: The HTTP methods in lower case. * means all.
ResourceAttributes: A request to a resource.
  fieldSelector: Limits the request by fields.
  group: The API group. * means all.
  labelSelector: Limits the request by labels.
  name: The name of the object. Empty means all objects.
  namespace: The namespace. Empty means the whole cluster or all namespaces; for a LocalSubjectAccessReview that of the review.
  resource: The resource, such as pods. * means all.
  subresource: The subresource, such as log. Empty means none.
  verb: The verb, such as get or create. * means all.
  version: The API version. * means all.
ResourceRule: Resources that a user may use.
  apiGroups: The API groups. * means all.
  resourceNames: The names of the objects. Empty means all names.
  resources: The resources. * means all in the groups; */NAME a subresource of all.
  verbs: The verbs. * means all.
SelfSubjectAccessReview: Asks whether you may do something, as kubectl auth can-i does. It is answered and not stored.
  spec: The request to check.
  status: The answer, set by the server.
SelfSubjectAccessReviewSpec: What you want to do. One of the fields is set.
  nonResourceAttributes: A request to a path that is not a resource.
  resourceAttributes: A request to a resource.
SelfSubjectRulesReview: Asks what you may do in a namespace. The answer may be incomplete; use it to show or hide parts of a user interface, not to decide about access.
  spec: The namespace to look at.
  status: The answer, set by the server.
SelfSubjectRulesReviewSpec: The namespace to look at.
  namespace: The name of the namespace. It is required.
SubjectAccessReview: Asks whether a user may do something. It is answered and not stored.
  spec: The user and the request to check.
  status: The answer, set by the server.
SubjectAccessReviewSpec: The user and what it wants to do. One of the attributes is set.
  extra: Further facts about the user, by key.
  groups: The groups of the user.
  nonResourceAttributes: A request to a path that is not a resource.
  resourceAttributes: A request to a resource.
  uid: The uid of the user.
  user: The name of the user. With groups and without a name, any user of the groups.
SubjectAccessReviewStatus: The answer of the server.
  allowed: Whether the request is allowed.
  denied: True when an authorizer refuses it and no other may allow it. With neither this nor allowed, no authorizer had an opinion, and the request is refused.
  evaluationError: An error on the way. The answer may still be right.
  reason: Why it is allowed or refused.
SubjectRulesReviewStatus: The answer of the server.
  evaluationError: An error on the way. The rules may then be incomplete.
  incomplete: True when there may be more rules, as with authorizers that cannot list them.
  nonResourceRules: What is allowed on paths that are not resources.
  resourceRules: What is allowed on resources.
`

export const certificatesV1 = `
CertificateSigningRequest: Asks a signer for a certificate. It must be approved first. Finished requests are deleted after some time.
  spec: The request for a certificate. It cannot be changed.
  status: The decisions about the request, and the certificate.
CertificateSigningRequestCondition < meta.v1.Condition: A decision about a request.
  lastUpdateTime: When this condition was last written.
  status: True, False or Unknown. Approved, Denied and Failed can only be True.
  type: Approved, Denied or Failed. Approved and Denied exclude each other and cannot be removed.
CertificateSigningRequestSpec: The request. It cannot be changed.
  expirationSeconds: The wanted lifetime of the certificate, at least 600. The signer may choose another.
  extra: Further facts about the user who made the request. The server sets them.
  groups: The groups of the user who made the request. The server sets them.
  request: The PKCS 10 request in PEM; in base64 on top of that.
  signerName: The signer, as DOMAIN/PATH, such as kubernetes.io/kube-apiserver-client.
  uid: The uid of the user who made the request. The server sets it.
  usages [${usages}]: What the certificate is for. A TLS client needs client auth, a TLS server server auth.
  username: The name of the user who made the request. The server sets it.
CertificateSigningRequestStatus: What became of a request.
  certificate: The certificate chain in PEM, once the signer has issued it; in base64 on top of that. It cannot be changed.
  conditions: The decisions about the request.
`
