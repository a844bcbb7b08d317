/**
 * Layer 3: the API server.
 */
export { startServer } from './server.ts'
export type { Server, ServerOptions } from './server.ts'
