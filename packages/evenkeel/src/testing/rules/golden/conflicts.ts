/**
 * Rule 7: conflicts. Others write too: say which version you mean, write only what is yours.
 */
import { isJsonObject } from '#api'
import type { JsonValue } from '#api'
import { foreignMark } from '../../world/deeds.ts'
import { describeObject } from '../../state/normalize.ts'
import type { World } from '../../world/world.ts'
import type { Rule } from '../finding.ts'
import { bodyOf } from '../request-body.ts'

export const conflicts: Rule = {
  code: 'conflict', number: 7,
  says: 'others write too: say which version you mean, and write only what is yours',
  watch: (world) => ({
    request(life, request, asked) {
      const type = request.headers['content-type'] ?? ''
      if (!asked.isWrite || !(asked.verb === 'update' || type.startsWith('application/merge-patch'))) return
      const body = bodyOf(request)
      const metadata = isJsonObject(body) && isJsonObject(body['metadata']) ? body['metadata'] : {}
      const says = typeof metadata['resourceVersion'] === 'string' && metadata['resourceVersion'] !== ''
      const about = `${asked.verb} ${asked.resource}`
      if (asked.verb === 'update' && !says) {
        world.find({ rule: 'conflict', severity: 'error', about, message: `${life.name} replaces ${asked.resource} ${asked.name} without saying which version it means: whatever others wrote meanwhile is lost`, hint: 'send metadata.resourceVersion of the object you read, or use apply' })
      }
      if (asked.verb === 'patch' && type.startsWith('application/merge-patch') && !says) {
        const list = listIn(body)
        if (list !== undefined) world.find({ rule: 'conflict', severity: 'error', about, message: `${life.name} patches the whole list ${list} of ${asked.resource} ${asked.name} without saying which version it means: what others put into it meanwhile is lost`, hint: 'send metadata.resourceVersion with a merge patch that holds a list, or use apply' })
      }
    },
    done() {
      judgeMarks(world)
    },
  }),
}

/** What somebody else wrote into an object stays there as long as the object. */
function judgeMarks(world: World): void {
  for (const { actor, before, after } of world.facts.news('conflict')) {
    if (!before || !after || !world.facts.isLife(actor) || before.metadata.uid !== after.metadata.uid) continue
    for (const part of ['labels', 'annotations'] as const) {
      if (before.metadata[part]?.[foreignMark] === undefined || after.metadata[part]?.[foreignMark] !== undefined) continue
      world.find({ rule: 'conflict', severity: 'error', about: describeObject(after), message: `a write of ${actor} takes away the ${part === 'labels' ? 'label' : 'annotation'} that somebody else put on ${describeObject(after)}`, hint: 'apply only your own fields, or send back what you read' })
    }
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
