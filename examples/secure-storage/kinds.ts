/**
 * A SecureStorage is a cloud account, encrypted with our key. The cloud assigns an identity to the account later; the
 * identity needs access to the key; then the account can be encrypted with it.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf, Stored } from 'evenkeel'

const condition = (name: string, type: string, priority = 0) =>
  ({ name, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status`, priority }) as const

export const SecureStorage = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'SecureStorage',
  printerColumns: [
    { name: 'Key', type: 'string', jsonPath: '.spec.key' },
    condition('Ready', 'Ready'),
    { name: 'Why', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    condition('Account', 'AccountReady', 1),
    condition('Identity', 'IdentityReady', 1),
    condition('Access', 'KeyAccessGranted', 1),
    condition('Encrypted', 'Encrypted', 1),
  ],
  spec: {
    type: 'object',
    required: ['key'],
    properties: {
      region: {
        type: 'string',
        default: 'north',
        maxLength: 63,
        'x-kubernetes-validations': [
          { rule: 'self == oldSelf', message: 'data does not move to another region: create another SecureStorage' },
        ],
      },
      key: { type: 'string', pattern: '^[a-z0-9-]{1,63}$' },
    },
  },
  status: {
    type: 'object',
    properties: {
      account: { type: 'string' },
      principalId: { type: 'string' },
    },
  },
} as const)

export type SecureStorageObject = Stored<ObjectOf<typeof SecureStorage>>

/** At once by a service in memory, later over a network. */
type Answer<T> = Promise<T> | T

/** The API of the cloud. Every call takes time and can fail after it was executed. */
export interface Cloud {
  findAccount(name: string): Answer<Account | undefined>
  /** Succeeds when it exists, unless it is being deleted (409). */
  createAccount(name: string, region: string): Answer<void>
  /** With a key that its identity may use (403); without one: with the key of the cloud. */
  encryptAccount(name: string, key?: string): Answer<void>
  /** Succeeds when it does not exist. Takes a while. */
  deleteAccount(name: string): Answer<void>
  listGrants(account: string): Answer<readonly Grant[]>
  putGrant(account: string, grant: Grant): Answer<void>
  /** Not while the account is encrypted with the key (409). */
  deleteGrant(account: string, key: string): Answer<void>
}

export interface Account {
  readonly region: string
  readonly state: 'Active' | 'Deleting'
  /** Assigned some time after the account, without an event. */
  readonly principalId?: string
  readonly encryptedWith?: string
}

/** A key that an identity may use. */
export interface Grant {
  readonly key: string
  readonly principalId: string
}
