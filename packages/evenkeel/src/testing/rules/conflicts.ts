/**
 * Rule 7, conflicts: other clients write too. A write names the version it is based on and changes only its own fields.
 *
 * `lintRequest` needs only the request, so it also checks a program on a real cluster (live/live-rules.ts).
 */
import { isJsonObject, type JsonValue } from '#api'
import type { WireRequest } from '#wire'
import { foreignKey } from '../foreign-writes.ts'
import type { SimulatedProcess } from '../process.ts'
import { bodyOf, type RequestInfo } from '../requests.ts'
import { describeObject } from '../snapshot.ts'
import type { Finding, Rule, RuleContext } from './rule.ts'

export const conflicts: Rule = {
  code: 'conflict',
  number: 7,
  says: 'name the version you replace, and write only your own fields',
  watch: (world) => {
    /** Updates that met a conflict, with the reconcile that sent them. */
    const refused = new Set<string>()
    return {
      request(proc, request, requestInfo) {
        const found =
          lintRequest(request, requestInfo, { who: proc.name }) ??
          (refused.size > 0 && refused.has(textOfUpdate(proc, request)) ? hopelessUpdate(proc, requestInfo) : undefined)
        if (found) world.addFinding(found)
      },
      done({ outcome, request, requestInfo, process: proc }) {
        if (outcome === '409' && request && requestInfo?.verb !== 'create' && hasVersion(request))
          refused.add(textOfUpdate(proc, request))
        judgeForeignKeys(world)
      },
    }
  },
}

/** Its reconcile, its target and its body. */
function textOfUpdate(
  { name }: Pick<SimulatedProcess, 'name'>,
  { method, target, headers, body }: WireRequest,
): string {
  const [run = ''] = /reconcile\/\S+/.exec(headers['user-agent'] ?? '') ?? []
  const text = body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString() : ''
  return `${name} ${run} ${method} ${target} ${text}`
}

function hasVersion(request: WireRequest): boolean {
  const body = bodyOf(request)
  return isJsonObject(body) && isJsonObject(body['metadata']) && typeof body['metadata']['resourceVersion'] === 'string'
}

function hopelessUpdate(
  { name: who }: Pick<SimulatedProcess, 'name'>,
  { verb, resource, name }: RequestInfo,
): Omit<Finding, 'step'> {
  return {
    rule: 'conflict',
    severity: 'error',
    about: `${verb} ${resource}`,
    message: `${who} sends the same ${verb} of ${resource} ${name} again after its conflict: with the same resourceVersion it never succeeds`,
    hint: 'after a conflict, read the object again and decide again; or throw, so that the queue retries',
  }
}

/** Labels and annotations of another client stay as long as the object. */
function judgeForeignKeys(world: RuleContext): void {
  for (const { actor, before, after } of world.facts.eventsSince('conflict')) {
    if (!before || !after || !world.facts.isProcess(actor) || before.metadata.uid !== after.metadata.uid) continue
    for (const part of ['labels', 'annotations'] as const) {
      if (before.metadata[part]?.[foreignKey] === undefined || after.metadata[part]?.[foreignKey] !== undefined)
        continue
      world.addFinding({
        rule: 'conflict',
        severity: 'error',
        about: describeObject(after),
        message: `a write of ${actor} removes the ${part === 'labels' ? 'label' : 'annotation'} of another client from ${describeObject(after)}`,
        hint: 'use server-side apply for your own fields, or send back all fields that you read',
      })
    }
  }
}

/** The mistake in a request, if there is one. @param options `who`: the sender, for the message */
export function lintRequest(
  request: WireRequest,
  requestInfo: RequestInfo,
  { who }: { who: string },
): Omit<Finding, 'step'> | undefined {
  const type = request.headers['content-type'] ?? ''
  const isMerge = requestInfo.verb === 'patch' && type.startsWith('application/merge-patch')
  if (!requestInfo.isWrite || !(requestInfo.verb === 'update' || isMerge)) return undefined
  const body = bodyOf(request)
  const metadata = isJsonObject(body) && isJsonObject(body['metadata']) ? body['metadata'] : {}
  if (typeof metadata['resourceVersion'] === 'string' && metadata['resourceVersion'] !== '') return undefined
  const about = `${requestInfo.verb} ${requestInfo.resource}`
  if (requestInfo.verb === 'update')
    return {
      rule: 'conflict',
      severity: 'error',
      about,
      message: `${who} updates ${requestInfo.resource} ${requestInfo.name} without a resourceVersion: writes of other clients in between are lost`,
      hint: 'send metadata.resourceVersion of the object you read, or use server-side apply',
    }
  const list = listIn(body)
  return list === undefined
    ? undefined
    : {
        rule: 'conflict',
        severity: 'error',
        about,
        message: `${who} replaces the list ${list} of ${requestInfo.resource} ${requestInfo.name} by a merge patch without a resourceVersion: items of other clients are lost`,
        hint: 'send metadata.resourceVersion with a merge patch that contains a list, or use server-side apply',
      }
}

/** The first list in a merge patch outside status: it replaces the whole stored list. */
function listIn(value: JsonValue | undefined, path = ''): string | undefined {
  if (Array.isArray(value)) return path
  if (!isJsonObject(value)) return undefined
  for (const [name, inner] of Object.entries(value)) {
    if (path === '' && name === 'status') continue
    const found = listIn(inner, path === '' ? name : `${path}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}
