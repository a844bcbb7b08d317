/**
 * All commands, in the order of the first page of the help.
 */
import { apply } from './commands/apply.ts'
import { remove } from './commands/delete.ts'
import { describe } from './commands/describe.ts'
import { get } from './commands/get.ts'
import { kubeconfig } from './commands/kubeconfig.ts'
import { serve } from './commands/serve.ts'
import { snapshot } from './commands/snapshot.ts'
import { watch } from './commands/watch.ts'
import type { Section } from './help.ts'

export const sections: readonly Section[] = [
  { title: 'Run', commands: [serve, kubeconfig, snapshot] },
  { title: 'Look and change', commands: [get, describe, watch, apply, remove] },
]
