/**
 * Layer 3: the API server. What is published of it is listed in `src/server.ts`.
 */

export type {
  AuthorizerChain,
  AuthorizationAttributes,
  Authorizer,
  SubjectRules,
  AuthorizationDecision,
} from './authz/authorizer.ts'
export type { AuthorizationMode, AuthorizationOption } from './authz/authorization-modes.ts'
export type { PolicyRule } from '@evenkeel/builtins'
export type {
  AdmissionHook,
  AdmissionHookContext,
  AdmissionHookRequest,
  AdmissionHookRule,
  AdmissionHookUser,
} from './admission/admission-hooks.ts'
export type { AuditOptions } from './audit/audit-log.ts'
export type { AuditFileOptions } from './audit/rotating-file.ts'
export type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from './audit/audit-policy.ts'
export { verifyAuditLog, type AuditVerification, type ChainLink } from './audit/hash-chain.ts'
export type {
  AuthenticationOptions,
  FrontProxyOptions,
  ServiceAccountOptions,
  TokenWebhookOptions,
  OidcIssuer,
  OidcPrefixedClaim,
  OidcValidationRule,
  OidcClaimOrExpression,
} from './auth/authentication-options.ts'
export type { Authenticator, User } from './request-context.ts'
export type { AuthorizationWebhook } from './authz/webhook-authorizer.ts'
export type { LimitOptions } from './flowcontrol/limits.ts'
export type { CustomResourceOptions, CustomResourceRules } from './extensions/custom-resources.ts'
export type { HandlerResponse } from './extensions/handler-response.ts'
export { FollowedObject } from './extensions/followed-object.ts'
export { readLogOptions, type LogOptions } from './extensions/log-options.ts'
export type { Route, RouteRequest } from './extensions/routes.ts'
export type { ConnectRequest, ConnectResult, OutputWriter, TerminalSize } from './extensions/command-connection.ts'
export type { ConnectHandler } from './extensions/connects.ts'
export type { StreamHandler, StreamRequest } from './extensions/streams.ts'
export {
  ensureClient,
  ensureIdentity,
  makeIdentity,
  issueClient,
  type Identity,
  type IdentityOptions,
  type IssueClientOptions,
} from './auth/identity.ts'
export { writeKubeconfig, type Kubeconfig } from './auth/kubeconfig.ts'
export { IdentityError } from './auth/secret-files.ts'
export type { ConvertObject } from './crd/conversion.ts'
export type { ServiceAddress, WebhookOptions, WebhookServiceReference } from './webhooks/client.ts'
export { crdsOf, installKinds, type InstallOptions } from './crd/install-kinds.ts'
export { SchemaChangeError } from './crd/stored-objects.ts'
export { versionDocument } from './non-resource-paths.ts'
export { startServer, startServerWith } from './server.ts'
export type { StartWorker, WorkerStart } from './large-writes/large-write-thread.ts'
export { serveReplica } from './large-writes/serve-replica.ts'
export { admissionPluginNames, isAdmissionPluginName, type AdmissionPluginName } from './admission/plugin-names.ts'
export type { AdmissionOptions, Server, ServerAddress, ServerListenOptions, ServerOptions } from './server-options.ts'
