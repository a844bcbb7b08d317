/**
 * All commands, in the order of the first page of the help.
 */
import { apply } from './commands/apply.ts'
import { completionOf } from './commands/completion.ts'
import { remove } from './commands/delete.ts'
import { describe } from './commands/describe.ts'
import { doctor } from './commands/doctor.ts'
import { finalizers } from './commands/finalizers.ts'
import { get } from './commands/get.ts'
import { kubeconfig } from './commands/kubeconfig.ts'
import { logs } from './commands/logs.ts'
import { serve } from './commands/serve.ts'
import { snapshot } from './commands/snapshot.ts'
import { tree } from './commands/tree.ts'
import { watch } from './commands/watch.ts'
import { why } from './commands/why.ts'
import type { Section } from './frame/help.ts'

export const sections: readonly Section[] = [
  { title: 'Run', commands: [serve, kubeconfig, snapshot, doctor] },
  { title: 'Understand', commands: [why, tree, finalizers] },
  { title: 'Look and change', commands: [get, describe, watch, logs, apply, remove] },
  { title: 'This command', commands: [completionOf(() => sections.flatMap(({ commands }) => commands))] },
]
