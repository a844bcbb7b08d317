/**
 * The small messages: leases, logging in, and how the server is.
 */
import { ProtobufReader, ProtobufWriter } from './protobuf.ts'

/** `ttl` is in seconds; 0 or less means that the lease is gone. */
interface LeaseResponse {
  readonly id: bigint
  readonly ttl: number
}

interface ServerStatus {
  readonly version: string
  readonly hasLeader: boolean
}

export function encodeGrant(id: bigint, ttl: number): ProtobufWriter {
  return new ProtobufWriter().int(1, ttl).int64(2, id)
}

/** A keep-alive, a revoke or a question how long a lease has left: all name the lease alone. */
export function encodeLease(id: bigint): ProtobufWriter {
  return new ProtobufWriter().int64(1, id)
}

/** The answer to a grant or a keep-alive. */
export function decodeLease(message: Uint8Array): LeaseResponse {
  const reader = new ProtobufReader(message)
  let [id, ttl] = [0n, 0]
  while (reader.next()) {
    if (reader.field === 2) id = reader.int64()
    else if (reader.field === 3) ttl = reader.int()
    else reader.skip()
  }
  return { id, ttl }
}

/** The time, in seconds, that a lease was granted with, from the answer to how long it has left. */
export function decodeGrantedTtl(message: Uint8Array): number {
  const reader = new ProtobufReader(message)
  let granted = 0
  while (reader.next()) {
    if (reader.field === 4) granted = reader.int()
    else reader.skip()
  }
  return granted
}

export function encodeLogin(user: string, password: string): ProtobufWriter {
  return new ProtobufWriter().text(1, user).text(2, password)
}

/** The token that says who is calling. */
export function decodeToken(message: Uint8Array): string {
  const reader = new ProtobufReader(message)
  let token = ''
  while (reader.next()) {
    if (reader.field === 2) token = reader.text()
    else reader.skip()
  }
  return token
}

export function decodeStatus(message: Uint8Array): ServerStatus {
  const reader = new ProtobufReader(message)
  let [version, hasLeader] = ['', false]
  while (reader.next()) {
    if (reader.field === 2) version = reader.text()
    else if (reader.field === 4) hasLeader = reader.int64() !== 0n
    else reader.skip()
  }
  return { version, hasLeader }
}
