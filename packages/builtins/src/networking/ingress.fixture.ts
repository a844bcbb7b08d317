/**
 * Writes of Ingress and IngressClass objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newIngress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'a', namespace: 'ns' } }

export const cases: readonly Case[] = [
  {
    name: 'Ingress none',
    object: { ...newIngress, spec: {} },
    errors: ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
  },
  {
    name: 'Ingress ok',
    object: {
      ...newIngress,
      spec: {
        defaultBackend: { service: { name: 's', port: { number: 80 } } },
        tls: [{ hosts: ['*.a.b', 'x.y'], secretName: 's' }],
        ingressClassName: 'nginx',
      },
    },
    errors: [],
  },
  {
    name: 'Ingress bad',
    object: {
      ...newIngress,
      spec: {
        defaultBackend: {},
        rules: [{ host: '1.2.3.4' }, { host: '*' }, { host: 'A_' }, { host: '*.foo', http: { paths: [] } }],
        tls: [{ hosts: ['A'], secretName: 'B_' }],
        ingressClassName: 'X_',
      },
    },
    errors: [
      'spec.defaultBackend: Invalid value: "": resource or service backend is required',
      "spec.ingressClassName: Invalid value: \"X_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', a",
      'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      'spec.rules[1].host: Invalid value: "*": a wildcard DNS-1123 subdomain must start with \'*.\', followed by a valid DNS subdomain, which must co',
      "spec.rules[2].host: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and ",
      'spec.rules[3].http.paths: Required value',
      "spec.tls[0].hosts[0]: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and",
      "spec.tls[0].secretName: Invalid value: \"B_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ",
    ],
  },
  {
    name: 'Ingress path',
    object: {
      ...newIngress,
      spec: {
        rules: [{ http: { paths: [{ path: '/', backend: { service: { name: 's', port: { number: 80 } } } }] } }],
      },
    },
    errors: ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
  },
  {
    name: 'Ingress path2',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: { paths: [{ path: '/', pathType: 'X', backend: { service: { name: 's', port: { number: 80 } } } }] },
          },
        ],
      },
    },
    errors: [
      'spec.rules[0].http.paths[0].pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", "Prefix"',
    ],
  },
  {
    name: 'Ingress path3',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: {
              paths: [{ path: 'a', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    errors: ['spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path'],
  },
  {
    name: 'Ingress path4',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: {
              paths: [
                { path: '/a//b/%2f/..', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    },
    errors: [
      'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/%2f/..": cannot end with \'/..\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/%2f/..": must not contain \'%2f\'',
      'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/%2f/..": must not contain \'//\'',
    ],
  },
  {
    name: 'Ingress path5',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: {
              paths: [
                {
                  path: '',
                  pathType: 'ImplementationSpecific',
                  backend: { service: { name: 's', port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'Ingress be',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'A_', port: { number: 99999 } } } }],
            },
          },
        ],
      },
    },
    errors: [
      'spec.rules[0].http.paths[0].backend.service.name: Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric ch',
      'spec.rules[0].http.paths[0].backend.service.port.number: Invalid value: 99999: must be between 1 and 65535, inclusive',
    ],
  },
  {
    name: 'Ingress be2',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: {
              paths: [
                { path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80, name: 'x' } } } },
              ],
            },
          },
        ],
      },
    },
    errors: ['spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both port name & port number'],
  },
  {
    name: 'Ingress be3',
    object: {
      ...newIngress,
      spec: {
        rules: [
          { http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: {} } } }] } },
        ],
      },
    },
    errors: ['spec.rules[0].http.paths[0].backend: Required value: port name or number is required'],
  },
  {
    name: 'Ingress be4',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'Prefix',
                  backend: { resource: { kind: 'K', name: 'n' }, service: { name: 's', port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    },
    errors: ['spec.rules[0].http.paths[0].backend: Invalid value: "": cannot set both resource and service backends'],
  },
  {
    name: 'Ingress be5',
    object: {
      ...newIngress,
      spec: {
        rules: [
          {
            http: {
              paths: [
                { path: '/', pathType: 'Prefix', backend: { resource: { kind: 'K', name: 'n', apiGroup: 'g.h' } } },
              ],
            },
          },
        ],
      },
    },
    errors: [],
  },
  {
    name: 'IngressClass ingressclass',
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'a' },
      spec: { controller: 'x/y', parameters: { kind: 'K', name: 'n' } },
    },
    errors: [],
  },
  {
    name: 'IngressClass ingressclass2',
    object: { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name: 'a' }, spec: {} },
    errors: ['spec.controller: Required value'],
  },
]
