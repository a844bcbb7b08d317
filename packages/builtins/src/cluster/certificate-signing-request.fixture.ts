/**
 * Writes of CertificateSigningRequest objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newCertificateSigningRequest = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'A b' },
}

export const cases: readonly Case[] = [
  {
    name: 'CertificateSigningRequest',
    object: {
      ...newCertificateSigningRequest,
      spec: { request: '', usages: ['x', 'any', 'any'], signerName: 'abc', expirationSeconds: 1 },
    },
    errors: [
      'spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 600 seconds (10 minutes)',
      'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
      'spec.signerName: Invalid value: "abc": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      'spec.usages[0]: Unsupported value: "x": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign',
      'spec.usages[2]: Duplicate value: "any"',
    ],
  },
  {
    name: 'CertificateSigningRequest csr2',
    object: { ...newCertificateSigningRequest, spec: { request: '', signerName: 'A_/x' } },
    errors: [
      'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
      'spec.signerName: Invalid value: "A_": should be a domain with at least two segments separated by dots',
      'spec.signerName: Invalid value: "A_": validating label "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters o',
      'spec.usages: Required value',
    ],
  },
  {
    name: 'CertificateSigningRequest csr3',
    object: { ...newCertificateSigningRequest, spec: { request: '', usages: ['any'] } },
    errors: [
      'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
      'spec.signerName: Required value',
    ],
  },
  {
    name: 'CertificateSigningRequest csr4',
    object: {
      ...newCertificateSigningRequest,
      spec: { request: '', usages: ['any'], signerName: 'kubernetes.io/legacy-unknown' },
    },
    errors: [
      'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
      'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
    ],
  },
]
