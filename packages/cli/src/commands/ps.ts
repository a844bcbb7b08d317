/**
 * `evenkeel ps`: the workloads of all kinds, one row each.
 */
import type { Command, Invocation } from '../command.ts'
import { copyOption } from '../run/run-record.ts'
import { factsOf } from '../run/run-output.ts'
import { readWorkloads, workloadKindsOf, workloadNamespace } from '../run/workload-lookup.ts'
import { WorkloadWatch } from '../run/workload-watch.ts'
import { refOf, type WorkloadRow } from '../run/workload-row.ts'
import { namespaceOptions } from '../command.ts'
import { ago, formatTable } from '../terminal.ts'

export const ps: Command = {
  name: 'ps',
  about: 'what runs: the workloads with their state, ports and restarts',
  options: {
    ...namespaceOptions,
    ...copyOption,
    watch: { type: 'boolean', short: 'w', about: 'print a row again when it changes' },
  },
  examples: ['evenkeel ps', 'evenkeel ps -w', 'evenkeel ps --json'],
  async run(call) {
    const { values, io, json } = call
    const client = await call.connect()
    const namespace = values.flag('all-namespaces') ? undefined : workloadNamespace(call, client)
    if (values.flag('watch')) return follow(call, namespace)
    const rows = await readWorkloads(client, { namespace, signal: io.signal })
    if (json) io.stdout.write(`${JSON.stringify(rows.map(factsOf))}\n`)
    else if (rows.length === 0) io.stdout.write('No workloads.\n')
    else io.stdout.write(tableOf(rows, call, namespace === undefined))
    return 0
  },
}

/** A table of the first rows, then a line for each change. */
async function follow(call: Invocation, namespace: string | undefined): Promise<number> {
  const { io, json } = call
  const client = await call.connect()
  const resources = await workloadKindsOf(client, io.signal)
  let isListed = false
  const watch: WorkloadWatch = new WorkloadWatch(client, {
    resources,
    namespace,
    clock: io.clock,
    onChange: (row, previous) => {
      if (json && row) io.stdout.write(`${JSON.stringify(factsOf(row))}\n`)
      else if (json) io.stdout.write(`${JSON.stringify({ ...(previous && factsOf(previous)), phase: 'Removed' })}\n`)
      else if (isListed) print(row ?? (previous && { ...previous, phase: 'Removed', why: '' }))
    },
  })
  const print = (row: WorkloadRow | undefined): void => {
    if (row)
      io.stdout.write(
        tableOf([row], call, namespace === undefined)
          .split('\n')
          .slice(1)
          .join('\n'),
      )
  }
  const running = watch.run(io.signal)
  await Promise.race([watch.listed, running])
  if (!json) io.stdout.write(tableOf(watch.rows(), call, namespace === undefined))
  isListed = true
  await running
  return 0
}

function tableOf(rows: readonly WorkloadRow[], { io }: Invocation, hasNamespace: boolean): string {
  const headings = ['Workload', 'Phase', 'Ready', 'Restarts', 'Up', 'Pid', 'Ports', 'Why']
  const cells = rows.map((row) => [
    ...(hasNamespace ? [row.namespace] : []),
    refOf(row),
    row.phase,
    row.ready,
    String(row.restarts),
    row.startedAt === undefined ? '' : ago(row.startedAt, io.clock.now()),
    row.pid === undefined ? '' : String(row.pid),
    row.addresses.join(','),
    row.why,
  ])
  return formatTable(hasNamespace ? ['Namespace', ...headings] : headings, cells, { columns: io.stdout.columns })
}
