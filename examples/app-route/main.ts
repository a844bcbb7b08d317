/**
 * Apps and Routes as a module for `evenkeel up`, with real processes and a real router.
 */
import type { Manager } from 'evenkeel/controller'
import { App, Route } from './kinds.ts'
import { appRoute } from './program.ts'

const program = appRoute()

export const kinds = [App, Route]
export const { controllers } = program

/** The address stays the same from one start to the next, unless the port is taken. */
const usualPort = 8702

export async function serve({
  manager,
  onStop,
}: {
  manager: Manager
  onStop: (call: () => unknown) => void
}): Promise<{ name: string; url: string; note?: string }[]> {
  onStop(() => program.stop())
  const port = Number(process.env['ROUTER_PORT'] ?? usualPort)
  const { url, isTaken } = await program.start(manager, port)
  return [{ name: 'Router', url, ...(isTaken && { note: `port ${port} is taken` }) }]
}
