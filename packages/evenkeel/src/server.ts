/**
 * Published as `evenkeel/server`: an API server by itself, and one with the controllers that make it a control plane.
 */
export { ensureIdentity, IdentityError, installKinds, issueClient, makeIdentity, startServer, verifyAuditLog, writeKubeconfig } from '#server'
export type {
  Access, AccessQuestion, Authorizer, AuthorizationMode, AuthorizationOption, AuthorizationWebhook, HeldRules, PolicyRule, Verdict,
  AdmissionHook, AdmissionHookContext, AdmissionHookRequest, AdmissionHookRule, AdmissionHookUser, AdmissionOptions, AuditFileOptions, AuditLevel, AuditOptions, AuditPolicy, AuditResources, AuditRule, AuditStage, AuditVerification, AuthenticationOptions, Authenticator, ChainLink, ConvertObject, FrontProxyOptions, Identity, IdentityOptions, InstallOptions, IssueClientOptions,
  Kubeconfig, LimitOptions, OidcIssuer, OidcName, OidcRule, OidcValue, Server, ServerAddress, ServerListenOptions, ServerOptions, ServiceAccountOptions, ServiceAddress, TokenWebhookOptions, User, WebhookOptions,
  WebhookService,
} from '#server'
export { startPlane } from '#plane'
export type { Plane, PlaneControllers, PlaneOptions } from '#plane'
