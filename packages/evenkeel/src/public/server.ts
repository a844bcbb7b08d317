/**
 * `evenkeel/server`: a Kubernetes-compatible API server in this process, alone or with the controllers of a cluster.
 */
export { openDataPlane, startPlane, type DataPlaneOptions, type Plane, type PlaneOptions } from '#plane'
export {
  admissionPluginNames,
  ensureIdentity,
  IdentityError,
  installKinds,
  issueClient,
  makeIdentity,
  startServer,
  verifyAuditLog,
  writeKubeconfig,
  type AdmissionHook,
  type AdmissionOptions,
  type AdmissionPluginName,
  type AuditOptions,
  type AuditPolicy,
  type AuthenticationOptions,
  type Authenticator,
  type AuthorizationAttributes,
  type AuthorizationDecision,
  type AuthorizationOption,
  type Authorizer,
  type Identity,
  type OidcIssuer,
  type Server,
  type ServerOptions,
  type ServiceAccountOptions,
  type User,
} from '#server'
