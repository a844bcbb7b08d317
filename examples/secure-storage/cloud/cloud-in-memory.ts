/**
 * A cloud in memory. Like real ones, it takes time and enforces an order:
 *
 *   an account ──identityMs──▶ its identity          access to a key ──▶ encrypted with it
 *   deleted ──removalMs──▶ gone                      encrypted with it ──▶ access cannot be revoked
 */
import { ExternalError } from 'evenkeel/verbs'
import type { Clock } from 'evenkeel/unstable/base'
import type { Account, Cloud, Grant } from '../kinds.ts'

interface StoredAccount {
  readonly region: string
  readonly principalId: string
  readonly identityAtMs: number
  encryptedWith?: string | undefined
  goneAtMs?: number
}

export interface CloudTimes {
  /** How long an account waits for its identity. @default 12_000 */
  readonly identityMs?: number
  /** How long it takes to delete an account. @default 8_000 */
  readonly removalMs?: number
}

export class CloudInMemory implements Cloud {
  readonly accounts = new Map<string, StoredAccount>()
  /** By account and key. */
  readonly grants = new Map<string, Grant>()
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #times: Required<CloudTimes>
  #accountsMade = 0

  constructor(clock: Pick<Clock, 'monotonic'>, { identityMs = 12_000, removalMs = 8_000 }: CloudTimes = {}) {
    this.#clock = clock
    this.#times = { identityMs, removalMs }
  }

  findAccount(name: string): Account | undefined {
    const found = this.#find(name)
    if (!found) return undefined
    const { region, encryptedWith, goneAtMs, principalId, identityAtMs } = found
    return {
      region,
      state: goneAtMs === undefined ? 'Active' : 'Deleting',
      ...(identityAtMs <= this.#clock.monotonic() && { principalId }),
      ...(encryptedWith !== undefined && { encryptedWith }),
    }
  }

  createAccount(name: string, region: string): void {
    const found = this.#find(name)
    if (found?.goneAtMs !== undefined) throw refusal(409, `account ${name} is being deleted`)
    // A new identity even for an account with the same name.
    if (!found)
      this.accounts.set(name, {
        region,
        principalId: `principal-${++this.#accountsMade}`,
        identityAtMs: this.#clock.monotonic() + this.#times.identityMs,
      })
  }

  encryptAccount(name: string, key?: string): void {
    const account = this.#find(name)
    if (!account) throw refusal(404, `there is no account ${name}`)
    if (account.goneAtMs !== undefined) throw refusal(409, `account ${name} is being deleted`)
    if (key !== undefined && this.grants.get(grantName(name, key))?.principalId !== account.principalId)
      throw refusal(403, `account ${name} may not use the key ${key}`)
    account.encryptedWith = key
  }

  deleteAccount(name: string): void {
    const account = this.#find(name)
    if (account) account.goneAtMs ??= this.#clock.monotonic() + this.#times.removalMs
  }

  listGrants(account: string): readonly Grant[] {
    return [...this.grants].filter(([name]) => name.startsWith(`${account}/`)).map(([, grant]) => grant)
  }

  putGrant(account: string, grant: Grant): void {
    this.grants.set(grantName(account, grant.key), grant)
  }

  deleteGrant(account: string, key: string): void {
    if (this.#find(account)?.encryptedWith === key)
      throw refusal(409, `account ${account} is encrypted with the key ${key}`)
    this.grants.delete(grantName(account, key))
  }

  /** Applies changes whose time has come, on every read. */
  #find(name: string): StoredAccount | undefined {
    const account = this.accounts.get(name)
    if (account?.goneAtMs === undefined || account.goneAtMs > this.#clock.monotonic()) return account
    this.accounts.delete(name)
    return undefined
  }
}

const grantName = (account: string, key: string): string => `${account}/${key}`

function refusal(status: number, message: string): ExternalError {
  return new ExternalError(message, { status })
}
