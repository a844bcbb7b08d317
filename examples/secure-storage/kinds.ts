/**
 * A SecureStorage is an account in a cloud, encrypted with a key of ours. The account gets an identity from the cloud, later;
 * the identity needs access to the key; then the account can be encrypted with it.
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
          { rule: 'self == oldSelf', message: 'data does not move to another region: make another SecureStorage' },
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

/** What the cloud lets us do. Every call takes time, and every call can fail after it was carried out. */
export interface Cloud {
  findAccount(name: string): Promise<Account | undefined>
  /** One that is there already is fine, unless it is being deleted (409). */
  createAccount(name: string, region: string): Promise<void>
  /** With a key that its identity may use (403); without one, with the cloud's own again. */
  encryptAccount(name: string, key?: string): Promise<void>
  /** One that is not there is fine. It takes a while. */
  deleteAccount(name: string): Promise<void>
  listGrants(account: string): Promise<readonly Grant[]>
  putGrant(account: string, grant: Grant): Promise<void>
  /** Not while the account is encrypted with the key (409). */
  deleteGrant(account: string, key: string): Promise<void>
}

export interface Account {
  readonly region: string
  readonly state: 'Active' | 'Deleting'
  /** Comes some time after the account. Nobody tells when. */
  readonly principalId?: string
  readonly encryptedWith?: string
}

/** A key that an identity may use. */
export interface Grant {
  readonly key: string
  readonly principalId: string
}
