/**
 * `evenkeel down`: deletes what `evenkeel run` has applied, consumers before providers, and ends the run in the background.
 *
 * A persistent process is ended as well, unless `--keep` leaves it: then the next run finds it.
 *
 * Invariant: no code of the working directory runs, and its `run.json` chooses a namespace only on the server of this directory.
 */
import type { Command, Invocation } from '../command.ts'
import { configFor } from '../connection.ts'
import { localKubeconfigPath } from '../local-folder.ts'
import { loadOwnWorkloads } from '../modules.ts'
import { durationOf } from '../parse.ts'
import { endRun, planRemoval, remove } from '../run/removal.ts'
import { activeRun, copyNameOf, dataFolderOf, type RunRecord } from '../run/run-record.ts'
import { workloadNamespace, workloadOptions } from '../run/workload-lookup.ts'

export const down: Command = {
  name: 'down',
  about: 'stop an application and remove its objects',
  options: {
    ...workloadOptions,
    keep: { type: 'boolean', about: 'leave persistent processes and their objects' },
    'shutdown-timeout': { type: 'string', value: 'TIME', about: 'kill what is left after this time (default: 30s)' },
  },
  details: 'Exit code 0: everything is gone, which was verified.',
  examples: ['evenkeel down', 'evenkeel down --keep', 'evenkeel down --copy blue'],
  async run(call) {
    const { values, io } = call
    const { clock, signal } = io
    const timeoutMs = durationOf('shutdown-timeout', values.text('shutdown-timeout') ?? '30s')
    const workloads = await loadOwnWorkloads({
      hint: 'npx evenkeel down: the command of the project; or npm install --global @evenkeel/workloads',
    })
    const active = await activeRun(dataFolderOf(values, io.cwd), workloads)
    const client = await call.connect()
    const namespace = (await recordedNamespace(call, active)) ?? workloadNamespace(call, client)
    const plan = await planRemoval(client, { namespace, keepsPersistent: values.flag('keep'), workloads, signal })
    const hasRemoved = await remove(client, plan, {
      ...{ workloads, timeoutMs, clock, signal },
      onGone: ({ kind, metadata: { name = '' } }, tookMs) => {
        print(call, { kind, name }, `gone after ${tookMs} ms`)
      },
    })
    if (hasRemoved) for (const one of plan.kept) print(call, one, 'goes on: its lifetime is Persistent')
    if (active) await endRun(active, { workloads, clock, signal, isLate: !hasRemoved })
    const everything = plan.kept.length > 0 ? 'Everything else' : 'Everything'
    if (!call.json) io.stdout.write(hasRemoved ? `${everything} is gone.\n` : 'Killed what was left.\n')
    return hasRemoved ? 0 : 1
  },
}

/** The namespace of a run, if commands go to its server. */
async function recordedNamespace(
  { values, io }: Invocation,
  active: RunRecord | undefined,
): Promise<string | undefined> {
  if (!active) return undefined
  const { path } = await configFor(values, io)
  return path === localKubeconfigPath(io.cwd, copyNameOf(values)) ? active.namespace : undefined
}

interface Named {
  readonly kind: string
  readonly name: string
}

function print({ io, json }: Invocation, { kind, name }: Named, text: string): void {
  io.stdout.write(
    json ? `${JSON.stringify({ kind, name, message: text })}\n` : `${kind.toLowerCase()}/${name} ${text}\n`,
  )
}
