/**
 * Why an object changed: who wrote which fields last, and which reconcile that was and what made it run.
 */
import { isJsonObject, parseKey } from 'evenkeel/api'
import type { JsonValue, KubeObject } from 'evenkeel/api'
import type { LedgerEntry } from 'evenkeel/controller'
import { ago } from '../printing/ago.ts'
import type { WhyAnswer, WhyFacts } from './answer.ts'
import { causeLines } from './ran.ts'

export function whyChanged(facts: WhyFacts): WhyAnswer {
  const { object, manager, nowMs } = facts
  const written = [...(object.metadata.managedFields ?? [])].sort((a, b) =>
    String(b.time ?? '').localeCompare(String(a.time ?? '')),
  )
  const because = written
    .slice(0, 6)
    .map(({ manager: who = 'somebody', operation = 'Update', time, subresource, fieldsV1 }) => {
      const fields = [...new Set(pathsOf(fieldsV1 as JsonValue | undefined).map(shortened))]
      const shown = fields.slice(0, 5).join(', ')
      return `${who} (${operation}${subresource ? `, ${subresource}` : ''}) wrote ${shown}${fields.length > 5 ? ` and ${fields.length - 5} more` : ''}${time === undefined ? '' : `, ${ago(String(time), nowMs)} ago`}`
    })
  const write = lastWrite(object, manager?.runs ?? [])
  if (write)
    because.unshift(
      `version ${write.version} was written by reconcile ${write.run.reconcileId.slice(0, 8)} of ${write.run.controller}`,
      ...causeLines(write.run).map((line) => `which ran because ${line}`),
    )
  // Times of managed fields count seconds; the ledger knows the very version.
  const last = write && write.version === object.metadata.resourceVersion ? write.run.controller : written[0]?.manager
  return {
    question: 'changed',
    answer: last === undefined ? 'nothing tells who wrote it' : `${last} wrote it last`,
    because,
    advice: manager ? [] : ['--manager URL adds which reconcile it was, and why it ran'],
  }
}

function lastWrite(
  { kind, metadata: { name, namespace, resourceVersion } }: KubeObject,
  runs: readonly LedgerEntry[],
): { run: LedgerEntry; version: string } | undefined {
  for (const run of runs) {
    const write = run.writes.findLast(
      ({ object, isNoop = false }) => !isNoop && isKeyOf(object, { kind, name, namespace }),
    )
    if (write) return { run, version: write.resourceVersion ?? resourceVersion ?? '' }
  }
  return undefined
}

/** Whether a canonical key is that of an object. */
export function isKeyOf(
  key: string,
  { kind, name, namespace }: { kind: string; name?: string | undefined; namespace?: string | undefined },
): boolean {
  const parsed = parseKey(key)
  return parsed.kind === kind && parsed.name === name && (parsed.namespace ?? '') === (namespace ?? '')
}

/** Two names say where; the rest is for those who read the object. */
function shortened(path: string): string {
  return path
    .replace(/\[.*$/, '')
    .split('.')
    .slice(0, path.startsWith('metadata.') ? 3 : 2)
    .join('.')
}

/** The fields of an entry of managedFields: `spec.replicas`, `metadata.labels.app`. */
function pathsOf(fields: JsonValue | undefined, path = ''): readonly string[] {
  if (!isJsonObject(fields)) return path === '' ? [] : [path]
  const names = Object.keys(fields).filter((name) => name !== '.')
  if (names.length === 0) return path === '' ? [] : [path]
  return names.flatMap((name) => pathsOf(fields[name], joined(path, name)))
}

function joined(path: string, name: string): string {
  const word = name.replace(/^[fkv]:/, '')
  if (name.startsWith('f:')) return path === '' ? word : `${path}.${word}`
  return `${path}[${word.replace(/^\{|\}$/g, '').replace(/"/g, '')}]`
}
