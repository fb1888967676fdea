import { NodeSDK } from '@opentelemetry/sdk-node';

new NodeSDK().start();
