/**
 * Rule 7: conflicts. Others write too: say which version you mean, write only what is yours.
 */
import { isJsonObject, type JsonValue } from '#api'
import type { WireRequest } from '#wire'
import { foreignKey } from '../foreign-writes.ts'
import { bodyOf, type RequestInfo } from '../requests.ts'
import { describeObject } from '../snapshot.ts'
import type { World } from '../world.ts'
import type { Finding, Rule } from './rule.ts'

export const conflicts: Rule = {
  code: 'conflict',
  number: 7,
  says: 'others write too: say which version you mean, and write only what is yours',
  watch: (world) => ({
    request(life, request, requestInfo) {
      const found = lintRequest(request, requestInfo, { who: life.name })
      if (found) world.addFinding(found)
    },
    done() {
      judgeForeignKeys(world)
    },
  }),
}

/** What somebody else wrote into an object stays there as long as the object. */
function judgeForeignKeys(world: World): void {
  for (const { actor, before, after } of world.facts.eventsSince('conflict')) {
    if (!before || !after || !world.facts.isProcess(actor) || before.metadata.uid !== after.metadata.uid) continue
    for (const part of ['labels', 'annotations'] as const) {
      if (before.metadata[part]?.[foreignKey] === undefined || after.metadata[part]?.[foreignKey] !== undefined)
        continue
      world.addFinding({
        rule: 'conflict',
        severity: 'error',
        about: describeObject(after),
        message: `a write of ${actor} takes away the ${part === 'labels' ? 'label' : 'annotation'} that somebody else put on ${describeObject(after)}`,
        hint: 'apply only your own fields, or send back what you read',
      })
    }
  }
}

/*
 * What can be told from a request alone: also of a program that runs on a real cluster.
 */

/** What is wrong with a request, if anything is; `who` sends it. */
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
      message: `${who} replaces ${requestInfo.resource} ${requestInfo.name} without saying which version it means: whatever others wrote meanwhile is lost`,
      hint: 'send metadata.resourceVersion of the object you read, or use apply',
    }
  const list = listIn(body)
  return list === undefined
    ? undefined
    : {
        rule: 'conflict',
        severity: 'error',
        about,
        message: `${who} patches the whole list ${list} of ${requestInfo.resource} ${requestInfo.name} without saying which version it means: what others put into it meanwhile is lost`,
        hint: 'send metadata.resourceVersion with a merge patch that holds a list, or use apply',
      }
}

/** The first list in a merge patch outside status: it replaces the whole list that is there. */
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
