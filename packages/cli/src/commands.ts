/**
 * All commands, in the order of the help.
 */
import type { Section } from './command.ts'
import { apply } from './commands/apply.ts'
import { completionOf } from './commands/completion.ts'
import { remove } from './commands/delete.ts'
import { describe } from './commands/describe.ts'
import { down } from './commands/down.ts'
import { act } from './commands/do.ts'
import { doctor } from './commands/doctor.ts'
import { envtest } from './commands/envtest.ts'
import { attach, exec } from './commands/exec.ts'
import { edit } from './commands/edit.ts'
import { explain } from './commands/explain.ts'
import { explore } from './commands/explore.ts'
import { finalizers } from './commands/finalizers.ts'
import { generate } from './commands/generate.ts'
import { get } from './commands/get.ts'
import { kubeconfig } from './commands/kubeconfig.ts'
import { logs } from './commands/logs.ts'
import { mcp } from './commands/mcp.ts'
import { ps } from './commands/ps.ts'
import { replay } from './commands/replay.ts'
import { rules } from './commands/rules.ts'
import { run } from './commands/run.ts'
import { serve } from './commands/serve.ts'
import { snapshot } from './commands/snapshot.ts'
import { tree } from './commands/tree.ts'
import { up } from './commands/up.ts'
import { wait } from './commands/wait.ts'
import { watch } from './commands/watch.ts'
import { why } from './commands/why.ts'
import { restart, scale, start, stop } from './commands/workload-actions.ts'

export const sections: readonly Section[] = [
  { title: 'Run', commands: [up, serve, mcp, kubeconfig, snapshot, doctor, generate, envtest] },
  { title: 'Run an application', commands: [run, ps, restart, stop, start, scale, down] },
  { title: 'Understand', commands: [why, tree, finalizers, rules] },
  {
    title: 'Read and change objects',
    commands: [get, describe, explain, watch, wait, logs, exec, attach, apply, edit, remove, act],
  },
  { title: 'Test', commands: [explore, replay] },
  { title: 'This program', commands: [completionOf(() => sections.flatMap(({ commands }) => commands))] },
]
