#pragma once

#include "selvage/plan.h"

#include "trial.h"

/// What subject() makes of plans for a GPU. Its memory is on the device, among sentinels that must
/// survive, and so are the views: with the strides and gaps that the trial's views have, and
/// beginning at an odd element. Outputs come back to the trial with all that lies in their gaps.
Subject device_subject(const selvage::Plan &whole, const selvage::Plan &part);
