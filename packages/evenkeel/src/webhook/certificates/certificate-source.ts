/**
 * Where the certificate of a listener comes from, and how it is told of a new one.
 */

/** A certificate (or a chain) and its key, in PEM. */
export interface ServerCertificate {
  readonly certificatePem: string
  readonly keyPem: string
}

export interface CertificateSource {
  /** The one to begin with. @throws when there is none yet. */
  current(): Promise<ServerCertificate>
  /** Calls back with every new one until the signal aborts. */
  watch(signal: AbortSignal, onChange: (certificate: ServerCertificate) => void): Promise<void>
}
