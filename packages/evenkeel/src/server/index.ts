/**
 * Layer 3: the API server. Published as `evenkeel/server`.
 */
export { ensureIdentity, makeIdentity } from './identity/identity.ts'
export type { Identity, IdentityOptions } from './identity/identity.ts'
export { writeKubeconfig } from './identity/kubeconfig.ts'
export type { Kubeconfig } from './identity/kubeconfig.ts'
export { IdentityError } from './identity/owner-files.ts'
export { startServer } from './server.ts'
export type { Server, ServerAddress, ServerListenOptions, ServerOptions } from './server.ts'
