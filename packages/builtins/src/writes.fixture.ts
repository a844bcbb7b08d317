/**
 * Runs the hooks of a kind in the order of a write, for tables of cases in tests.
 *
 * Complaints are cut: the sentences that explain what a name may look like are tested where names are.
 */
import {
  deepCopy,
  deepFreeze,
  formatFieldError,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import type { ObjectDraft, WriteContext } from './resource.ts'
import { strategyFor } from './strategies.ts'

export interface Case {
  readonly name: string
  readonly object: JsonObject
  /** The stored object, for an update. */
  readonly old?: JsonObject
  readonly subresource?: string
  readonly errors: readonly string[]
}

export interface Written {
  readonly object: UnstructuredObject
  readonly errors: readonly string[]
}

export const uid = '11111111-2222-3333-4444-555555555555'
const complaintLength = 140

/** What a case comes to. */
export function write({ object, old, subresource }: Pick<Case, 'object' | 'old' | 'subresource'>): Written {
  const context: WriteContext = {
    now: '2026-01-01T00:00:00Z',
    warn: () => undefined,
    ...(subresource !== undefined && { subresource }),
  }
  return old === undefined ? create(object, context) : update(object, old, context)
}

function create(object: JsonObject, context: WriteContext): Written {
  const rules = rulesOf(object)
  const draft = draftOf(object)
  rules.default?.(draft)
  draft.metadata['uid'] ??= uid
  rules.prepareForCreate?.(draft, context)
  return written(draft, rules.validate?.(done(draft)) ?? [])
}

function update(object: JsonObject, old: JsonObject, context: WriteContext): Written {
  const rules = rulesOf(object)
  const [draft, before] = [draftOf(object), draftOf(old)]
  rules.default?.(draft)
  rules.default?.(before)
  const stored = deepFreeze(done(before))
  const isStatus = context.subresource === 'status'
  const kept = isStatus ? 'spec' : 'status'
  if (before[kept] !== undefined) draft[kept] = before[kept]
  rules.prepareForUpdate?.(draft, stored, context)
  const errors = isStatus
    ? rules.validateStatusUpdate?.(done(draft), stored)
    : [...(rules.validate?.(done(draft)) ?? []), ...(rules.validateUpdate?.(done(draft), stored) ?? [])]
  return written(draft, errors ?? [])
}

function rulesOf(object: JsonObject): ReturnType<typeof strategyFor> {
  const [group = '', version] = String(object['apiVersion']).split('/')
  return strategyFor(version === undefined ? '' : group, String(object['kind']))
}

function draftOf(object: JsonObject): ObjectDraft {
  return deepCopy(object) as ObjectDraft
}

function done(draft: ObjectDraft): UnstructuredObject {
  return draft
}

function written(draft: ObjectDraft, errors: readonly FieldError[]): Written {
  const texts = errors.map((error) => formatFieldError(error).split('\n', 1).join('').slice(0, complaintLength))
  return { object: done(draft), errors: [...new Set(texts)].sort() }
}
