/**
 * Layer 3: the API server. What is published of it is listed in `src/server.ts`.
 */
export type {
  AuthorizerChain,
  AuthorizationAttributes,
  Authorizer,
  SubjectRules,
  AuthorizationDecision,
} from './access/access.ts'
export type { PolicyRule } from './access/policy-rule.ts'
export type {
  AdmissionHook,
  AdmissionHookContext,
  AdmissionHookRequest,
  AdmissionHookRule,
  AdmissionHookUser,
} from './admission/hooks/admission-hook.ts'
export type { AuditFileOptions, AuditOptions } from './audit/audit-options.ts'
export type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from './audit/audit-policy.ts'
export { verifyAuditLog } from './audit/chain.ts'
export type { AuditVerification, ChainLink } from './audit/chain.ts'
export type {
  AuthenticationOptions,
  FrontProxyOptions,
  ServiceAccountOptions,
  TokenWebhookOptions,
} from './authentication/options.ts'
export type {
  OidcIssuer,
  OidcPrefixedClaim,
  OidcValidationRule,
  OidcClaimOrExpression,
} from './authentication/oidc/oidc-issuer.ts'
export type { Authenticator } from './authenticate.ts'
export type { User } from './call.ts'
export type { AuthorizationMode, AuthorizationOption } from './permission/authorization.ts'
export type { AuthorizationWebhook } from './permission/webhook/webhook-authorizer.ts'
export type { LimitOptions } from './fairness/limit-options.ts'
export { ensureIdentity, makeIdentity } from './identity/identity.ts'
export type { Identity, IdentityOptions } from './identity/identity.ts'
export { issueClient } from './identity/issue-client.ts'
export type { IssueClientOptions } from './identity/issue-client.ts'
export { writeKubeconfig } from './identity/kubeconfig.ts'
export type { Kubeconfig } from './identity/kubeconfig.ts'
export { IdentityError } from './identity/owner-files.ts'
export type { ConvertObject } from './conversion/convert-function.ts'
export type { ServiceAddress, WebhookOptions, WebhookServiceReference } from './outgoing/webhook-options.ts'
export { installKinds } from './kinds/install-kinds.ts'
export type { InstallOptions } from './kinds/install-kinds.ts'
export { versionDocument } from './plain/version.ts'
export { startServer } from './server.ts'
export type { AdmissionOptions, Server, ServerAddress, ServerListenOptions, ServerOptions } from './server.ts'
