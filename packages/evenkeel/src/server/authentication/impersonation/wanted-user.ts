/**
 * Who a caller wants to be, as the headers of a request say.
 */
import { badRequest, setOwn } from '#api'
import type { WireHeaders, WireRequest } from '#wire'
import type { User } from '../../call.ts'
import { ChangedRequest } from '../../requests/changed-request.ts'
import { extraFromHeaders } from '../certificates/front-proxy.ts'

const prefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'

/**
 * The wanted user, or undefined when the caller is content with itself.
 *
 * @throws {ApiError} `BadRequest`, for groups, a uid or extra without a name.
 */
export function requestedUser(headers: WireHeaders): User | undefined {
  const name = firstOf(headers['impersonate-user'])
  const uid = firstOf(headers['impersonate-uid'])
  const groups = headers['impersonate-group']?.split('\n') ?? []
  const extra = extraFromHeaders(headers, extraPrefix)
  if (name !== '') return { name, groups, ...(uid !== '' && { uid }), ...(extra && { extra }) }
  if (uid === '' && groups.length === 0 && extra === undefined) return undefined
  throw badRequest(
    `requested ${describe({ name, uid, groups, ...(extra && { extra }) })} without impersonating a user name`,
  )
}

/** A request whose headers say nothing of this any more: nobody after this room shall act on it. */
export function withoutImpersonationHeaders(request: WireRequest): WireRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (!name.startsWith(prefix)) setOwn(headers, name, value)
  return new ChangedRequest(request, { headers })
}

function firstOf(value: string | undefined): string {
  return value?.split('\n', 1)[0] ?? ''
}

/** As upstream writes what it has read. */
function describe({ name, uid = '', groups, extra }: User): string {
  const list = (texts: readonly string[]): string => `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`
  const written =
    extra === undefined
      ? '(nil)'
      : `{${Object.entries(extra)
          .map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`)
          .join(', ')}}`
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${groups.length === 0 ? '[]string(nil)' : list(groups)}, Extra:map[string][]string${written}}`
}
