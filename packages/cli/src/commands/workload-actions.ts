/**
 * `evenkeel restart`, `stop`, `start`: actions of workloads, by name. And `evenkeel scale`.
 *
 * A restart is a request on the same object: it is handled once, its runs are numbered, and logs of earlier runs stay.
 */
import type { Client } from 'evenkeel/client'
import type { Command, Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { findWorkloads, workloadNamespace, workloadOptions } from '../run/workload-lookup.ts'
import { refOf, type WorkloadRow } from '../run/workload-row.ts'
import { requestWorkloadAction } from '../run/workload-lookup.ts'

const done = { restart: 'restart requested', stop: 'stop requested', start: 'start requested' } as const

function actionCommand(action: keyof typeof done, about: string, details: string): Command {
  return {
    name: action,
    about,
    usage: 'NAME ...',
    words: { least: 1, most: Infinity },
    options: workloadOptions,
    details,
    examples: [`evenkeel ${action} api`, `evenkeel ${action} api worker`],
    async run(call) {
      const client = await call.connect()
      const rows = await find(client, call, call.words)
      const results = await Promise.all(
        rows.map((row) => requestUnlessSo(client, row, { action, signal: call.io.signal })),
      )
      for (const [index, { kind, name }] of rows.entries()) {
        const isChanged = results[index] === true
        if (call.json) call.io.stdout.write(`${JSON.stringify({ action, kind, name, changed: isChanged })}\n`)
        else call.io.stdout.write(`${refOf({ kind, name })}: ${isChanged ? done[action] : 'no change'}\n`)
      }
      return 0
    },
  }
}

/** Whether something was requested: what is stopped already is not stopped again. */
async function requestUnlessSo(
  client: Client,
  row: WorkloadRow,
  { action, signal }: { readonly action: keyof typeof done; readonly signal: AbortSignal },
): Promise<boolean> {
  if (action !== 'restart' && row.isWanted === (action === 'start')) return false
  await requestWorkloadAction(client, { ...row, action, signal })
  return true
}

function find(client: Client, call: Invocation, words: readonly string[]): Promise<readonly WorkloadRow[]> {
  return findWorkloads(client, words, { namespace: workloadNamespace(call, client), signal: call.io.signal })
}

export const restart = actionCommand(
  'restart',
  'end workloads and start them again',
  'One that is stopped stays stopped. A request is handled once, whatever happens in between.',
)
export const stop = actionCommand('stop', 'end workloads; their objects stay', 'evenkeel start NAME starts them again.')
export const start = actionCommand('start', 'start workloads that were stopped', 'It waits for what it depends on.')

const replicasMax = 1000

export const scale: Command = {
  name: 'scale',
  about: 'change how many copies of a workload run',
  usage: 'NAME=NUMBER ...',
  words: { least: 1, most: Infinity },
  options: workloadOptions,
  examples: ['evenkeel scale worker=3'],
  async run(call) {
    const wanted = call.words.map(parseScale)
    const client = await call.connect()
    const rows = await find(
      client,
      call,
      wanted.map(({ name }) => name),
    )
    const wrong = rows.find(({ kind }) => kind !== 'ProcessSet')
    if (wrong)
      throw new Failure('usage', `${refOf(wrong)} has no replicas`, {
        hint: 'declare it as a ProcessSet: kind: ProcessSet, spec: { replicas, template }',
      })
    for (const [index, { kind, name, namespace }] of rows.entries()) {
      const replicas = wanted[index]?.replicas ?? 0
      const target = { apiVersion: 'workloads.evenkeel.dev/v1', kind, metadata: { name, namespace } }
      await client.patch(target, { spec: { replicas } }, { signal: call.io.signal })
      if (call.json) call.io.stdout.write(`${JSON.stringify({ kind, name, replicas })}\n`)
      else call.io.stdout.write(`${refOf({ kind, name })}: ${replicas} ${replicas === 1 ? 'copy' : 'copies'}\n`)
    }
    return 0
  },
}

/** @throws {Failure} `usage` */
function parseScale(word: string): { readonly name: string; readonly replicas: number } {
  const [, name, number] = /^([^=]+)=(\d+)$/.exec(word) ?? []
  const replicas = Number(number)
  if (name === undefined || !(replicas <= replicasMax))
    throw new Failure('usage', `${JSON.stringify(word)} is not NAME=NUMBER with a number up to ${replicasMax}`, {
      hint: 'evenkeel scale worker=3',
    })
  return { name, replicas }
}
