/**
 * What a request asks for, in the words of the trace: a verb and a place.
 */
import { parseResourcePath } from '#wire'
import type { WireRequest } from '#wire'

/** A request as stories tell it. */
export interface RequestInfo {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** It changes something that matters: not a review, a lease of an election, or an Event. */
  readonly isWrite: boolean
  /** It looks at something: a get or a list. */
  readonly isRead: boolean
  readonly isWatch: boolean
  readonly isDryRun: boolean
}

const uncountedResources: ReadonlySet<string> = new Set([
  'leases',
  'events',
  'selfsubjectaccessreviews',
  'subjectaccessreviews',
  'tokenreviews',
  'selfsubjectreviews',
  'selfsubjectrulesreviews',
])

export function readRequestInfo({ method, target }: WireRequest): RequestInfo {
  const at = target.indexOf('?')
  const [path, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
  const place = parseResourcePath(path)
  if (place === undefined)
    return {
      verb: method.toLowerCase(),
      group: '',
      resource: path,
      subresource: '',
      namespace: '',
      name: '',
      isWrite: false,
      isRead: false,
      isWatch: false,
      isDryRun: false,
    }
  const { group, resource, subresource, namespace, name } = place
  const isWatch = method === 'GET' && name === '' && /(?:^|&)watch=(?:1|true)/.test(query)
  const verb = verbOf(method, { name, isWatch })
  const changes = method !== 'GET' && method !== 'HEAD'
  const isDryRun = query.includes('dryRun=')
  const counts = !uncountedResources.has(resource)
  return {
    verb,
    group,
    resource,
    subresource,
    namespace,
    name,
    isWrite: changes && counts && !isDryRun,
    isRead: !changes && !isWatch && counts,
    isWatch,
    isDryRun,
  }
}

/** `patch configmaps/status default/a` */
export function describeRequest({ verb, resource, subresource, namespace, name }: RequestInfo): string {
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = [namespace, name].filter((part) => part !== '').join('/')
  return where === '' ? `${verb} ${what}` : `${verb} ${what} ${where}`
}

function verbOf(method: string, { name, isWatch }: { name: string; isWatch: boolean }): string {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    default:
      return isWatch ? 'watch' : name === '' ? 'list' : 'get'
  }
}
