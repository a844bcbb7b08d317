/**
 * What can be told from a request alone: also of a program that runs on a real cluster.
 */
import { isJsonObject } from '#api'
import type { JsonValue } from '#api'
import type { WireRequest } from '#wire'
import type { RequestInfo } from '../life/asked.ts'
import type { Finding } from './finding.ts'
import { bodyOf } from './request-body.ts'

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
