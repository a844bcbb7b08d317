/**
 * Apps and Routes as a module for `evenkeel up`, with real processes and a real router.
 */
import type { Manager } from 'evenkeel/controller'
import { App, Route } from './kinds.ts'
import { appRoute } from './program.ts'

const program = appRoute()

export const kinds = [App, Route]
export const { controllers } = program

export async function serve({
  manager,
  onStop,
}: {
  manager: Manager
  onStop: (call: () => unknown) => void
}): Promise<{ name: string; url: string }[]> {
  onStop(() => program.stop())
  return [{ name: 'Router', url: await program.start(manager, Number(process.env['ROUTER_PORT'] ?? 0)) }]
}
