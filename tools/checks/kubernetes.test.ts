import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1';
import { CronJob } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PersistentVolumeClaim, Service } from 'kubernetes-models/v1';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { STOP_MS } from '../../src/app/build.ts';
import { parseConfig } from '../../src/config/settings.ts';
import { ROOT } from '../../test/helpers/documents.ts';
import { createHttpSender } from '../../test/helpers/http-request.ts';
import { startServiceForTest } from '../../test/helpers/process.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';

/* deploy/kubernetes.yaml, checked without a cluster: with Kubernetes’ schemas, the Dockerfile and the service. */

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

const MANIFESTS = parseAllDocuments(readFileSync(join(ROOT, 'deploy/kubernetes.yaml'), 'utf8')).map((document) => {
  if (document.errors.length > 0) throw document.errors[0];
  return document.toJS() as Manifest;
});
const MODELS = { CronJob, Deployment, NetworkPolicy, PersistentVolumeClaim, Service };

/** The errors that the API server's schema finds. */
function findSchemaFault(manifest: Manifest): string | undefined {
  const Model = MODELS[manifest.kind as keyof typeof MODELS] as new (data: object) => { validate(): void };
  try {
    new Model(manifest).validate();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function manifestOf<T>(kind: string): T {
  const found = MANIFESTS.filter((manifest) => manifest.kind === kind);
  if (found.length !== 1) throw new Error(`deploy/kubernetes.yaml has ${found.length} of ${kind}`);
  return found[0] as T;
}

const { spec: DEPLOYMENT } = manifestOf<{ spec: NonNullable<Deployment['spec']> }>('Deployment');
const POD = DEPLOYMENT.template.spec as NonNullable<typeof DEPLOYMENT.template.spec>;
const CONTAINER = POD.containers[0] as (typeof POD.containers)[number];
const ENVIRONMENT = Object.fromEntries((CONTAINER.env ?? []).map(({ name, value = '' }) => [name, value]));

test.each(MANIFESTS.map((manifest) => [manifest.kind, manifest] as const))('%s is valid', (_kind, manifest) => {
  expect(findSchemaFault(manifest)).toBeUndefined();
});

const dockerfile = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8').split('\n');

test('the CronJob runs the doctor as systemd does, with the rights of the service and beside its pods', () => {
  const { template } = manifestOf<{ spec: NonNullable<CronJob['spec']> }>('CronJob').spec.jobTemplate.spec ?? {};
  const pod = template?.spec;
  const unit = readFileSync(join(ROOT, 'deploy/pennant-doctor.service'), 'utf8');
  const [, command] = /^ExecStart=\S+ (doctor .*)$/m.exec(unit) ?? [];
  const { command: [node, program, ...words] = [], securityContext, image } = pod?.containers[0] ?? {};
  expect(dockerfile.find((line) => line.startsWith('CMD'))).toContain(`"${program}"`);
  expect([node, words.join(' ')]).toEqual(['node', command]);
  expect([image, securityContext, pod?.volumes]).toEqual([CONTAINER.image, CONTAINER.securityContext, undefined]);
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    restartPolicy: 'Never',
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(template?.metadata?.labels).not.toEqual(DEPLOYMENT.template.metadata?.labels);
});

describe('the pod', () => {
  test('is selected by the Deployment, the Service and the NetworkPolicy', () => {
    const { labels } = DEPLOYMENT.template.metadata as { labels: Record<string, string> };
    expect(DEPLOYMENT.selector.matchLabels).toEqual(labels);
    expect(manifestOf<Service>('Service').spec?.selector).toEqual(labels);
    expect(manifestOf<NetworkPolicy>('NetworkPolicy').spec?.podSelector?.matchLabels).toEqual(labels);
  });

  test('keeps the data of the image’s volume in the claim', () => {
    const volumes = dockerfile.filter((line) => line.startsWith('VOLUME'));
    expect(CONTAINER.volumeMounts?.map(({ mountPath }) => `VOLUME ${mountPath}`)).toEqual(volumes);
    expect(POD.volumes?.[0]?.persistentVolumeClaim?.claimName).toBe(
      manifestOf<PersistentVolumeClaim>('PersistentVolumeClaim').metadata?.name,
    );
  });

  test('has valid settings, and more time to stop than the pause before it and the service take', () => {
    const config = parseConfig(ENVIRONMENT);
    expect(CONTAINER.ports?.map(({ containerPort }) => containerPort)).toEqual([config.port, config.consolePort]);
    expect(dockerfile).toContain(`EXPOSE ${config.port}`);
    const [program, seconds] = CONTAINER.lifecycle?.preStop?.exec?.command ?? [];
    expect(program).toBe('sleep');
    expect(POD.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + STOP_MS / 1_000);
  });

  test('reaches DNS and HTTPS outside of private networks, and nothing else', () => {
    const { policyTypes, egress = [] } = manifestOf<NetworkPolicy>('NetworkPolicy').spec ?? {};
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))).toEqual([53, 53, 443]);
    const outside = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    expect(outside.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '::/0']);
    expect(outside.flatMap(({ except = [] }) => except)).toEqual(
      expect.arrayContaining(['169.254.0.0/16', 'fc00::/7']),
    );
  });

  test('has only the rights that the service needs', () => {
    expect(POD).toMatchObject({ automountServiceAccountToken: false });
    expect(POD.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(CONTAINER.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('returns the probes at its own address', async () => {
    const service = await startServiceForTest({ directory: await createTemporaryDirectory(), env: ENVIRONMENT });
    const client = createHttpSender(Number(new URL(service.inside).port));
    onTestFinished(client.close);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      const { path = '', port } = CONTAINER[probe]?.httpGet ?? {};
      expect(port).toBe('console');
      const { status } = await client.send({ url: path, headers: { host: '10.42.7.9:8081' } });
      expect([path, status]).toEqual([path, 200]);
    }
  });
});
