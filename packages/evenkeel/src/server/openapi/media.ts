/**
 * What both OpenAPI versions say alike: media types, answer codes, parameters in paths, tags.
 */
import type { GroupVersion } from '#api'
import type { OpenApiAction } from './parameters.ts'
import { operationPrefix } from './operations.ts'

/** The patches a resource takes. Custom resources have no strategic merge: their definitions do not say how. */
export function patchTypes(custom: boolean): readonly string[] {
  const types = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
  return custom ? types : [...types, 'application/strategic-merge-patch+json']
}

/** The forms an answer comes in. */
export function responseTypes(custom: boolean, watchable: boolean): readonly string[] {
  const plain = ['application/json', 'application/yaml']
  if (custom) return plain
  const all = [...plain, 'application/vnd.kubernetes.protobuf']
  return watchable ? [...all, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'] : all
}

/** The codes of answers that carry an object. */
export function answerCodes(action: OpenApiAction): readonly (readonly [code: string, description: string])[] {
  const ok = ['200', 'OK'] as const
  const created = ['201', 'Created'] as const
  const accepted = ['202', 'Accepted'] as const
  switch (action) {
    case 'post':
      return [ok, created, accepted]
    case 'put':
    case 'patch':
      return [ok, created]
    case 'delete':
      return [ok, accepted]
    case 'connect':
    case 'deletecollection':
    case 'get':
    case 'list':
      return [ok]
  }
}

/** The parameters that every operation of a path has. What is answered by a stream cannot be asked to be pretty. */
export function pathParameters({
  path,
  action,
}: {
  path: string
  action: OpenApiAction
}): { name: string; place: 'path' | 'query'; type: 'string' }[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = '']) => ({ name, place: 'path', type: 'string' }) as const,
  )
  const pretty = action === 'connect' ? [] : [{ name: 'pretty', place: 'query', type: 'string' } as const]
  return [...inPath.sort((a, b) => (a.name < b.name ? -1 : 1)), ...pretty]
}

/** `core_v1`, `rbacAuthorization_v1`. */
export function tagOf({ group, version }: GroupVersion): string {
  const words = operationPrefix(group, '')
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}_${version}`
}
