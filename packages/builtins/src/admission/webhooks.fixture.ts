/**
 * Writes of ValidatingWebhookConfiguration and MutatingWebhookConfiguration objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newValidatingWebhookConfiguration = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'a' },
}

export const cases: readonly Case[] = [
  {
    name: 'ValidatingWebhookConfiguration ok',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [],
  },
  {
    name: 'MutatingWebhookConfiguration ok',
    object: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'a' },
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [],
  },
  {
    name: 'ValidatingWebhookConfiguration dup',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: ['webhooks[1].name: Duplicate value: "a.b.c"'],
  },
  {
    name: 'ValidatingWebhookConfiguration bad',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b',
          rules: [{}],
          failurePolicy: 'x',
          matchPolicy: 'y',
          sideEffects: 'Some',
          timeoutSeconds: 31,
          namespaceSelector: { matchLabels: { 'a b': '' } },
          clientConfig: {},
          admissionReviewVersions: ['v2', 'v2', '!'],
        },
      ],
    },
    errors: [
      'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2","!"]: must include at least one of v1, v1beta1',
      'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
      'webhooks[0].admissionReviewVersions[2]: Invalid value: "!": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', star',
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
      'webhooks[0].failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"',
      'webhooks[0].matchPolicy: Unsupported value: "y": supported values: "Equivalent", "Exact"',
      'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
      "webhooks[0].namespaceSelector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and mus",
      'webhooks[0].rules[0].apiGroups: Required value',
      'webhooks[0].rules[0].apiVersions: Required value',
      'webhooks[0].rules[0].operations: Required value',
      'webhooks[0].rules[0].resources: Required value',
      'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
      'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration name',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: '',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        {
          name: 'A_',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].name: Required value',
      "webhooks[1].name: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and mu",
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration nothing',
    object: { ...newValidatingWebhookConfiguration, webhooks: [{}] },
    errors: [
      'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
      'webhooks[0].name: Required value',
      'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration url https://x/y',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https://x/y' },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [],
  },
  {
    name: 'ValidatingWebhookConfiguration url http://x',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'http://x' },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration url https://u:p@x/y?z=1#f',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https://u:p@x/y?z=1#f' },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "z=1": query parameters are not permitted in the URL',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration url https:///y',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https:///y' },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration url x',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'x' },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].clientConfig.url: Invalid value: "": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      'webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration both',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https://x', service: { name: 'a', namespace: 'b' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
  },
  {
    name: 'ValidatingWebhookConfiguration path /',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b', path: '/' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [],
  },
  {
    name: 'ValidatingWebhookConfiguration path //',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b', path: '//' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: ['webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty'],
  },
  {
    name: 'ValidatingWebhookConfiguration path a',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b', path: 'a' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].clientConfig.service.path: Invalid value: "a": must start with a \'/\'',
      'webhooks[0].clientConfig.service.path: Invalid value: "a": segment[0] may not be empty',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration path /a//b',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//b' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: ['webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty'],
  },
  {
    name: 'ValidatingWebhookConfiguration path /A/b/',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b', path: '/A/b/' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].clientConfig.service.path: Invalid value: "/A/b/": segment[0]: a lowercase RFC 1123 subdomain must consist of lower case alphanu',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration path /ok/x/',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 'a', namespace: 'b', path: '/ok/x/' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [],
  },
  {
    name: 'ValidatingWebhookConfiguration svc',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { port: 0 } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].clientConfig.service.name: Required value',
      'webhooks[0].clientConfig.service.namespace: Required value',
      'webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration rule',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [
            {
              operations: ['*', 'CREATE', 'X'],
              apiGroups: ['*', 'a'],
              apiVersions: ['*', ''],
              resources: ['pods'],
              scope: 'Foo',
            },
          ],
        },
      ],
    },
    errors: [
      'webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
      'webhooks[0].rules[0].apiVersions: Invalid value: ["*",""]: if \'*\' is present, must not specify other API versions',
      'webhooks[0].rules[0].apiVersions[1]: Required value',
      'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE","X"]: if \'*\' is present, must not specify other operations',
      'webhooks[0].rules[0].operations[2]: Unsupported value: "X": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      'webhooks[0].rules[0].scope: Unsupported value: "Foo": supported values: "*", "Cluster", "Namespaced"',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration res1',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: [] }],
        },
      ],
    },
    errors: ['webhooks[0].rules[0].resources: Required value'],
  },
  {
    name: 'ValidatingWebhookConfiguration res2',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['*/*', 'a'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].rules[0].resources: Invalid value: ["*/*","a"]: if \'*/*\' is present, must not specify other resources',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration res3',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['*', 'a'] }],
        },
      ],
    },
    errors: [
      'webhooks[0].rules[0].resources: Invalid value: ["*","a"]: if \'*\' is present, must not specify other resources without subresources',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration res4',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['a', '*'] }],
        },
      ],
    },
    errors: [],
  },
  {
    name: 'ValidatingWebhookConfiguration res5',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [
            {
              operations: ['CREATE'],
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['a/*', 'a/b', '*/b', 'c/b', ''],
            },
          ],
        },
      ],
    },
    errors: [
      'webhooks[0].rules[0].resources[1]: Invalid value: "a/b": if \'a/*\' is present, must not specify a/b',
      'webhooks[0].rules[0].resources[3]: Invalid value: "c/b": if \'*/b\' is present, must not specify c/b',
      'webhooks[0].rules[0].resources[4]: Required value',
    ],
  },
  {
    name: 'ValidatingWebhookConfiguration mc',
    object: {
      ...newValidatingWebhookConfiguration,
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
          matchConditions: [
            { name: 'a', expression: 'true' },
            { name: 'a', expression: ' ' },
            { name: '', expression: 'true' },
            { name: 'a b', expression: 'true' },
          ],
        },
      ],
    },
    errors: [
      'webhooks[0].matchConditions[1].expression: Required value',
      'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
      'webhooks[0].matchConditions[2].name: Required value',
      "webhooks[0].matchConditions[3].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must star",
    ],
  },
  {
    name: 'MutatingWebhookConfiguration reinv',
    object: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'a' },
      webhooks: [
        {
          name: 'a.b.c',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'n', name: 's' } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
          reinvocationPolicy: 'x',
        },
      ],
    },
    errors: ['webhooks[0].reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never"'],
  },
]
