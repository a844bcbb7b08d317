/**
 * All commands, in the order of the first page of the help.
 */
import { apply } from './commands/objects/apply.ts'
import { completionOf } from './commands/completion.ts'
import { remove } from './commands/objects/delete.ts'
import { describe } from './commands/objects/describe.ts'
import { act } from './commands/objects/do.ts'
import { doctor } from './commands/running/doctor.ts'
import { explore } from './commands/testing/explore.ts'
import { finalizers } from './commands/understanding/finalizers.ts'
import { get } from './commands/objects/get.ts'
import { kubeconfig } from './commands/running/kubeconfig.ts'
import { logs } from './commands/objects/logs.ts'
import { replay } from './commands/testing/replay.ts'
import { rules } from './commands/understanding/rules.ts'
import { serve } from './commands/running/serve.ts'
import { snapshot } from './commands/running/snapshot.ts'
import { tree } from './commands/understanding/tree.ts'
import { watch } from './commands/objects/watch.ts'
import { why } from './commands/understanding/why.ts'
import { up } from './commands/running/up.ts'
import type { Section } from './frame/help.ts'

export const sections: readonly Section[] = [
  { title: 'Run', commands: [up, serve, kubeconfig, snapshot, doctor] },
  { title: 'Understand', commands: [why, tree, finalizers, rules] },
  { title: 'Look and change', commands: [get, describe, watch, logs, apply, remove, act] },
  { title: 'Test', commands: [explore, replay] },
  { title: 'This command', commands: [completionOf(() => sections.flatMap(({ commands }) => commands))] },
]
