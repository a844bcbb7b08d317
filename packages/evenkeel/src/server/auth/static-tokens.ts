/**
 * Static tokens: each stands for a user. They come from options or from a token file.
 */
import { readFile } from 'node:fs/promises'
import type { User } from '../request-context.ts'
import { commonAudiences, digestOf, type TokenAuthenticator } from './bearer-tokens.ts'
import { withAuthenticatedGroup } from './user.ts'

export interface StaticToken {
  readonly token: string
  readonly user: User
}

/** Authenticates the given tokens. They have no audiences: they are valid for this server. */
export function staticTokens(tokens: readonly StaticToken[], ownAudiences: readonly string[]): TokenAuthenticator {
  const users = new Map(tokens.map(({ token, user }) => [digestOf(token), withAuthenticatedGroup(user)]))
  return ({ digest, audiences }) => {
    const user = users.get(digest)
    if (!user) return undefined
    const common = commonAudiences(audiences, ownAudiences)
    return common.length === 0 ? undefined : { user, audiences: common }
  }
}

// The format of `kube-apiserver --token-auth-file`: one line per token, `token,user,uid,"group,group"`.

/** @throws {RangeError} for a line with fewer than three columns or an unterminated quote. */
export async function readTokenFile(path: string): Promise<StaticToken[]> {
  return parseTokens(await readFile(path, 'utf8'), path)
}

/** The last line of a token wins; a line without a token is ignored. */
function parseTokens(text: string, name: string): StaticToken[] {
  return parseCsv(text, name).flatMap(({ columns, line }) => {
    const [token = '', user = '', uid = '', groups] = columns
    if (columns.length < 3)
      throw new RangeError(
        `line ${line} of ${name} must have at least 3 columns (token, user name, user uid), found ${columns.length}`,
      )
    if (token === '') return []
    return [
      {
        token,
        user: { name: user, groups: groups === undefined ? [] : groups.split(','), ...(uid !== '' && { uid }) },
      },
    ]
  })
}

interface CsvRecord {
  readonly line: number
  readonly columns: readonly string[]
}

/** A column, in quotes (where two stand for one) or without; then what ends it. */
const column = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

function parseCsv(text: string, name: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let columns: string[] = []
  let line = 1
  column.lastIndex = 0
  while (column.lastIndex < text.length || columns.length > 0) {
    const match = column.exec(text)
    if (!match) throw new RangeError(`line ${line} of ${name} has a quote where none belongs`)
    const [whole, quoted, plain = '', end] = match
    columns.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    if (columns.length > 1 || columns[0] !== '') records.push({ line, columns })
    line += whole.split('\n').length - 1
    columns = []
  }
  return records
}
