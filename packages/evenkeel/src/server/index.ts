/**
 * Layer 3: the API server. Published as `evenkeel/server`.
 */
export { ensureIdentity, makeIdentity } from './identity/identity.ts'
export type { Identity, IdentityOptions } from './identity/identity.ts'
export { writeKubeconfig } from './identity/kubeconfig.ts'
export type { Kubeconfig } from './identity/kubeconfig.ts'
export { IdentityError } from './identity/owner-files.ts'
export type { ConvertObject } from './conversion/convert-function.ts'
export type { ServiceAddress, WebhookOptions, WebhookService } from './conversion/webhook.ts'
export { installKinds } from './kinds/install-kinds.ts'
export type { InstallOptions } from './kinds/install-kinds.ts'
export { startServer } from './server.ts'
export type { Server, ServerAddress, ServerListenOptions, ServerOptions } from './server.ts'
