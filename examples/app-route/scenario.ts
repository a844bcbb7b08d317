/**
 * The scenario of Apps: processes are in memory, everything else is the real code.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { UserStep } from 'evenkeel/testing'
import { appController } from './apps.ts'
import { ProcessesInMemory } from './in-memory.ts'
import { App } from './kinds.ts'
import type { Processes } from './kinds.ts'

const web = { name: 'web', namespace: 'default' }

const steps: readonly UserStep[] = [
  {
    name: 'creates App web',
    run: (user) => user.create(App, { metadata: web, spec: { command: 'serve', port: 5000 } }),
  },
  { name: 'stops it', run: async (user) => user.patch(await user.get(App, web), { spec: { running: false } }) },
  { name: 'deletes it', run: async (user) => user.delete(await user.get(App, web)) },
]

interface External {
  readonly processes: Processes
}

export const controllers = ({ external: { processes } }: { external: External }): ControllerDeclaration[] => [
  appController(processes),
]

// The Explorer delays, fails and loses calls: the program gets promises.
export const scenario = {
  name: 'apps',
  steps,
  external: (): External => ({ processes: new ProcessesInMemory() }),
}
